"""A LangGraph agent whose long-term memory is Eidet: what it learns in one thread it uses in the next.

    pip install 'eidet[langgraph]' langgraph
    python examples/programs/langgraph_agent.py

The graph has two nodes. `recall` puts what matters for the message into the state; `respond` answers and
stores what the user said. `EidetStore` is an ordinary LangGraph store, so your nodes keep LangGraph's
interface.

For your own use: call your model in `respond`, with `state["known"]` in its prompt; give the memory a file
of yours, and a checkpointer to the graph if threads shall go on where they ended.
"""

from __future__ import annotations

import tempfile
import uuid
from pathlib import Path
from typing import Any, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from eidet import Memory
from eidet.integrations.langgraph import EidetStore


class State(TypedDict, total=False):
    message: str
    known: list[str]
    reply: str


class User(TypedDict):
    """What a run is told beside its state."""

    user: str


def recall(state: State, runtime: Runtime[User]) -> State:
    """Reads from the user's namespace, ranked as `memory.recall` ranks."""
    assert runtime.store is not None
    namespace = ("users", runtime.context["user"])
    items = runtime.store.search(namespace, query=state["message"], limit=2)
    return {"known": [item.value["text"] for item in items]}


def respond(state: State, runtime: Runtime[User]) -> State:
    """Stands in for a model: answers a question with the best thing that is known, and notes the rest."""
    assert runtime.store is not None
    message = state["message"]
    if message.endswith("?"):
        return {"reply": state["known"][0] if state["known"] else "I don't know that yet."}
    runtime.store.put(("users", runtime.context["user"]), str(uuid.uuid4()), {"text": message})
    return {"reply": "Noted."}


def compile_graph(store: EidetStore) -> Any:
    graph = StateGraph(State, context_schema=User)
    graph.add_node("recall", recall)
    graph.add_node("respond", respond)
    graph.add_edge(START, "recall")
    graph.add_edge("recall", "respond")
    graph.add_edge("respond", END)
    return graph.compile(store=store)


def run_day(at: Path, user: str, messages: tuple[str, ...]) -> None:
    """One process of the agent, as far as the memory can tell."""
    with Memory(at) as memory:
        agent = compile_graph(EidetStore(memory, scope="travel"))
        for message in messages:
            told = agent.invoke({"message": message}, context={"user": user})
            print(f"{user}: {message}\n  agent: {told['reply']}")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        at = Path(folder) / "agent.db"
        run_day(at, "ann", ("I always take an aisle seat.", "I get seasick on ferries."))
        print("--- next day, a new process ---")
        run_day(at, "ann", ("Which seat do I take?", "Is the ferry a good idea?"))
        run_day(at, "bob", ("Which seat do I take?",))
        with Memory(at) as memory:  # the same records, through Eidet's own verbs
            print("scopes:", memory.scopes())


if __name__ == "__main__":
    main()
