"""One conversation in two chats at terminals, as on two machines with one PostgreSQL server."""

from conftest import Program
from postgres_server import PostgresServer
from terminal_screen import Chat

FIRST = "What is a filter?"
SECOND = "How are filters joined?"


def test_a_message_of_another_chat_appears_and_the_chat_continues_after_it(
    on_server: Program, postgres: PostgresServer
) -> None:
    on_server("ask", FIRST)
    with Chat(on_server, "-c") as here, Chat(on_server, "-c") as there:
        here.wait_for("resumed")
        there.wait_for("resumed")
        here.wait_for_prompt()
        here.type("a draft")
        there.ask(SECOND, "AND, OR and NOT")
        here.wait_for("another program continued this conversation:")
        here.wait_for(f"you › {SECOND}")
        here.wait_for("AND, OR and NOT")
        here.wait_until(lambda: "you › a draft" in here.screen_text(), "the draft below")
        # The connection is lost, and found again without a word
        with postgres.admin() as db:
            db.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'tester'"
            )
        here.type("\x15")
        there.ask("What does limit 10 do?", "ten tasks")
        here.wait_for("you › What does limit 10 do?")
        here.ask("What is compost?", "air, water")
        assert "another program" not in here.screen_text().split("What is compost?")[-1]
        there.wait_for("you › What is compost?")
        assert "cannot be reached" not in here.everything() + there.everything()
    [listed] = on_server("sessions", "list", "--json").json
    assert listed["messages"] == 8
    log = on_server("context", "export", "--format", "json").json["messages"]
    asked = [each["content"] for each in log if each["role"] == "user"]
    assert asked == [FIRST, SECOND, "What does limit 10 do?", "What is compost?"]


def test_a_chat_that_was_elsewhere_keeps_its_branch_and_is_told(on_server: Program) -> None:
    on_server("ask", FIRST)
    on_server("ask", "-c", SECOND)
    with Chat(on_server, "-c") as here, Chat(on_server, "-c") as there:
        here.wait_for("resumed")
        there.wait_for("resumed")
        here.say("/undo")
        here.wait_for("redo")
        there.ask("What is compost?", "air, water")
        here.wait_for("continued on another branch: “What is compost?”")
        here.ask("What does limit 10 do?", "ten tasks")
        there.wait_for("continued on another branch: “What does limit 10 do?”")
        here.say("/branches")
        here.wait_for("“How are filters joined?”")
