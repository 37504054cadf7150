"""The notes that have the words of a subject: all of them, and not only the best."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from zkchat_cli.text import words
from zkchat_cli.text.case_folder import fold
from zkchat_cli.text.words import STOPWORDS
from zkchat_cli.vault.index.values import NoteFilter
from zkchat_cli.vault.index.word_match import WordMatch, is_cjk
from zkchat_cli.vault.search.word_forms import find_forms

if TYPE_CHECKING:
    from zkchat_cli.vault.index.port import NoteIndex

# Chunks and names that are looked at
MOST_FOUND = 10_000
# Shorter words are part of too many names of folders
SHORTEST_IN_FOLDER = 4


def find_notes_about(index: "NoteIndex", subject: str) -> list[str]:
    """The paths of the notes with all words of a subject, in any form, each once: first those with
    them in their names, tags or aliases, then those in a folder that is named so, then those with
    them in one part of their text, the best of these first.
    """
    wanted = [word for word in words.content_terms(subject) if word not in STOPWORDS]
    if not wanted:
        return []
    with_forms = find_forms(index.vocabulary, [word for word in wanted if not is_cjk(word)])
    if any(_is_corrected(word, each.forms) for word, each in with_forms.items()):
        return []
    groups = [tuple((form,) for form in sorted(each.forms)) for each in with_forms.values()]
    groups += [((word,),) for word in wanted if is_cjk(word)]
    match = WordMatch(tuple(groups))
    found = dict.fromkeys(_named_notes(index, match))
    found |= dict.fromkeys(_notes_in_folders(index, wanted))
    found |= dict.fromkeys(index.words.notes_with_chunk(match, MOST_FOUND, ranked=True))
    return list(found)


def _is_corrected(word: str, forms: frozenset[str]) -> bool:
    """Whether the forms are of another word, one letter away: a list about "nope" has no notes with
    "none".
    """
    beginning = word[:SHORTEST_IN_FOLDER]
    return not any(beginning in form or form in word for form in forms)


def _named_notes(index: "NoteIndex", match: WordMatch) -> Iterator[str]:
    """The notes with names that match, in the order of their paths."""
    first_chunks: list[int] = []
    for note in index.words.find_named(match, MOST_FOUND):
        first_chunks += index.chunks.first_of_note(note, 1)
    yield from sorted(chunk.relative_path for chunk in index.chunks.read(first_chunks))


def _notes_in_folders(index: "NoteIndex", wanted: list[str]) -> Iterator[str]:
    """The notes below a folder with all of these words in its path."""
    parts = tuple(wanted)
    if any(len(part) < SHORTEST_IN_FOLDER and not is_cjk(part) for part in parts):
        return
    for note in index.list_notes(NoteFilter(path_parts=parts)):
        folders = fold(note.path.rpartition("/")[0])
        if all(part in words.terms(folders) for part in parts):
            yield note.path
