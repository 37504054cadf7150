"""The prompt of a session: too large instructions are an error, and a conversation is counted once,
however long.
"""

import threading

from factories import AppFixture, DeltaModel, exchanges, failure_of, reply, resume

from zkchat_cli.config.schema import Config, ContextSettings


def test_instructions_and_tools_beyond_the_limit_are_an_error_before_any_call(
    app: AppFixture,
) -> None:
    app.max_context = 600
    model = DeltaModel([reply("Yes.")])
    session = app.session(model, settings=Config(context=ContextSettings(tool_filter="off")))
    error = failure_of(session.send("Is it so?")).error
    assert error.code == "prompt_too_large"
    assert error.hint.startswith("Largest: instructions, memory and tools, ")
    assert not model.requests


def test_warming_up_may_run_during_a_turn(app: AppFixture) -> None:
    app.max_context = 3000
    said = exchanges(
        *(
            (f"What is in box {n}?", f"A thing of {n} parts, and nothing else in all of that box.")
            for n in range(150)
        )
    )
    session = resume(app, said)
    threads = [threading.Thread(target=session.warm_up) for _ in range(3)]
    for thread in threads:
        thread.start()
    shown = session.prompt("What was in box 7?")
    for thread in threads:
        thread.join()
    assert [m for m in shown.messages if "7 parts" in (m.content or "")]
    alone = resume(
        app,
        [
            message.model_copy(
                update={
                    "id": f"again {message.id}",
                    "parent_id": message.parent_id and f"again {message.parent_id}",
                }
            )
            for message in said
        ],
    )
    assert [m.content for m in alone.prompt("What was in box 7?").messages] == [
        m.content for m in shown.messages
    ]
