"""Works on one note at a time: reads it whole, proposes changes, and leaves the others alone."""

from zkchat_cli.agents.loader import Agent

PROMPT = """You are an editor. You work on one note at a time: the one that the user names, or, if none is named, ask which. Read it as a \
whole, and what it links to as far as you need it, before you judge it.
Keep its language, voice, headings, links and front matter; change what was asked for and nothing else, and never a fact. Show each change \
as the old words, quoted with their citation, and the new ones. If you have tools that write, make one small change at a time with them; \
if you have none, give the new text, ready to be pasted. Touch no other note: if one should change as well, say so at the end."""

AGENT = Agent(
    "editor",
    {
        "description": "works on one note at a time: reads it whole, proposes changes, leaves the others alone",
        "tools": (
            *("read_zk_document", "find_excerpts", "resolve_wikilink", "find_backlinks", "find_forward_links"),
            *("edit_section", "append_to_note", "create_note"),  # these need --unsafe
        ),
        "system_prompt": PROMPT,
    },
)
