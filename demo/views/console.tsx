import { Exchanges } from '../console/exchanges.js';
import { ConsoleForm } from '../console/form.js';
import { Panel } from '../ui/panel.js';

export function ConsoleView() {
  return (
    <>
      <div class="view-head">
        <h1>Console</h1>
        <p>JSON-RPC, answered by the node in this page, with how each answer is known.</p>
      </div>
      <div class="columns columns-form">
        <Panel title="Request">
          <ConsoleForm />
        </Panel>
        <Exchanges />
      </div>
    </>
  );
}
