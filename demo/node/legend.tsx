import { CLASSES, Known, LEVELS } from '../ui/known.js';
import { Panel } from '../ui/panel.js';

/** What the marks beside values mean. */
export function LegendPanel() {
  return (
    <Panel
      title="How a value is known"
      intro="Answers of the node carry one of these marks, and a level where they rest on blocks."
    >
      <dl class="legend">
        {(Object.keys(CLASSES) as (keyof typeof CLASSES)[]).map((name) => (
          <div key={name}>
            <dt>
              <Known of={{ class: name }} />
            </dt>
            <dd>{CLASSES[name]}</dd>
          </div>
        ))}
      </dl>
      <details class="fold">
        <summary>Levels of trust in a block</summary>
        <dl class="legend">
          {(Object.keys(LEVELS) as (keyof typeof LEVELS)[]).map((name) => (
            <div key={name}>
              <dt>
                <span class="known-level known-alone">{name}</span>
              </dt>
              <dd>{LEVELS[name]}</dd>
            </div>
          ))}
        </dl>
      </details>
    </Panel>
  );
}
