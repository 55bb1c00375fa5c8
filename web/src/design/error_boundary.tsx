// Shows an error in place of the part that failed, with the id by which the fault is found; the rest of the page goes on.
import { Component, type ComponentChildren } from "preact";
import { Refusal } from "../api/refusal";
import { dictionary } from "../words/language";
import { Empty } from "./empty";

const errorBoundaryWords = dictionary(
  {
    title: "Algo falhou nesta página",
    text: "O que apostou e o que tem não mudam por isso: contam no servidor, e não aqui.",
    trace: "Ao reclamar, indique",
    again: "Carregar de novo",
  },
  {
    title: "Something failed on this page",
    text: "What you have bet and what you own do not change because of it: they count on the server, not here.",
    trace: "When you complain, quote",
    again: "Load again",
  },
);

interface State {
  error: unknown;
}

export class ErrorBoundary extends Component<{ children: ComponentChildren }, State> {
  override state: State = { error: null };

  override componentDidCatch(error: unknown): void {
    console.error(error);
    this.setState({ error });
  }

  override render() {
    const { error } = this.state;
    if (error === null) return <>{this.props.children}</>;
    const mark = error instanceof Refusal && error.traceId ? error.traceId : String(error).slice(0, 120);
    return (
      <Empty
        page
        icon="warning"
        title={errorBoundaryWords().title}
        testId="page-failed"
        actions={
          <button type="button" class="button first" onClick={() => location.reload()}>
            {errorBoundaryWords().again}
          </button>
        }
      >
        <p>{errorBoundaryWords().text}</p>
        <p>
          {errorBoundaryWords().trace}: <code>{mark}</code>
        </p>
      </Empty>
    );
  }
}
