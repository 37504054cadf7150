# The formula of a tap: `brew install zkchat/tap/zkchat`. packaging/release.sh writes dist/zkchat.rb from it, with the version and the
# checksum of the release.
class Zkchat < Formula
  desc "Chat with your own notes in the terminal, and check every answer"
  homepage "https://github.com/zkchat/zkchat"
  url "https://github.com/zkchat/zkchat/releases/download/v0.1.0/zkchat-0.1.0.tar.gz"
  sha256 "0000000000000000000000000000000000000000000000000000000000000000"
  license "MIT"

  depends_on "python@3.12"

  def install
    # As wheels: onnxruntime and tokenizers take hours to build
    system formula_python, "-m", "venv", libexec
    system libexec/"bin/python", "-m", "pip", "install", "--constraint", "constraints.txt", buildpath
    bin.install_symlink libexec/"bin/zkchat"
    man1.install "docs/zkchat.1"
    generate_completions_from_executable(bin/"zkchat", "--show-completion", shells: [:bash, :zsh, :fish])
  end

  def formula_python
    Formula["python@3.12"].opt_bin/"python3.12"
  end

  test do
    assert_match "zkchat #{version}", shell_output("#{bin}/zkchat --version")
    assert_match "Evergreen notes", pipe_output("#{bin}/zkchat chat --demo", "What is an evergreen note?\n")
  end
end
