"""Who may read and change which rows of layout 1.

This text never changes again (see `schema`).
"""

_MINE = "owner = (SELECT me())"
_READABLE = f"""
    ({_MINE} OR {{seq}} IN (SELECT share.conversation_seq FROM share))
"""
_WRITABLE = f"""
    ({_MINE} OR {{seq}} IN (SELECT share.conversation_seq FROM share WHERE share.may_write))
"""
_OWN_TABLES = ("calibration", "fact", "fact_vector", "share")
_CONVERSATION_TABLES = (
    "message",
    "compaction",
    "mention",
    "piece",
    "prompt",
    "message_vector",
    "message_index",
)
_GRANTS = """
    GRANT USAGE ON SCHEMA zkchat TO PUBLIC;
    GRANT SELECT ON layout TO PUBLIC;
    GRANT SELECT, INSERT, DELETE ON conversation TO PUBLIC;
    GRANT UPDATE (
        vault, title, updated_at, changed_at, head_id, messages, tokens, question, checksum,
        indexed_messages, indexed_words
    ) ON conversation TO PUBLIC;
    GRANT SELECT, INSERT ON message, piece, prompt TO PUBLIC;
    GRANT UPDATE (status, rest, packed, checksum, tokens) ON message TO PUBLIC;
    GRANT SELECT, INSERT, UPDATE, DELETE
        ON share, compaction, calibration, fact, mention, message_vector, fact_vector TO PUBLIC;
    GRANT INSERT ON message_index TO PUBLIC;
    GRANT USAGE ON SEQUENCE piece_seq_seq TO PUBLIC;
"""


def _policies(table: str, *, read: str, write: str, delete: str) -> str:
    return f"""
        ALTER TABLE {table} ENABLE ROW LEVEL SECURITY;
        CREATE POLICY reading ON {table} FOR SELECT USING ({read});
        CREATE POLICY adding ON {table} FOR INSERT WITH CHECK ({write});
        CREATE POLICY changing ON {table} FOR UPDATE USING ({write}) WITH CHECK ({write});
        CREATE POLICY deleting ON {table} FOR DELETE USING ({delete});
    """


def _security() -> str:
    # Nobody adds a conversation of somebody else, and nobody else deletes one
    text = _policies(
        "conversation",
        read=_READABLE.format(seq="seq"),
        write=_WRITABLE.format(seq="seq"),
        delete=_MINE,
    )
    text += f"CREATE POLICY own ON conversation AS RESTRICTIVE FOR INSERT WITH CHECK ({_MINE});"
    readable = {
        "share": f"{_MINE} OR with_user IN ((SELECT me()), '*')",
        "fact": f"{_MINE} OR shared",
        "fact_vector": f"{_MINE} OR fact_seq IN (SELECT seq FROM fact WHERE shared)",
    }
    for table in _OWN_TABLES:
        text += _policies(table, read=readable.get(table, _MINE), write=_MINE, delete=_MINE)
    read = _READABLE.format(seq="conversation_seq")
    write = _WRITABLE.format(seq="conversation_seq")
    for table in _CONVERSATION_TABLES:
        text += _policies(table, read=read, write=write, delete=write)
    text += """
        CREATE POLICY own_name ON message AS RESTRICTIVE FOR INSERT
        WITH CHECK (author = (SELECT me()));
        ALTER TABLE vocabulary ENABLE ROW LEVEL SECURITY;
    """
    for table in ("conversation", *_OWN_TABLES, *_CONVERSATION_TABLES):
        if table != "message_index":
            text += f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY;\n"
    for table in ("fact", "share", "compaction"):
        text += f"""
            CREATE TRIGGER tell_change AFTER INSERT OR UPDATE OR DELETE ON {table}
            FOR EACH STATEMENT EXECUTE FUNCTION tell_other_change();
        """
    return text


ROW_SECURITY = f"{_security()}{_GRANTS}"
