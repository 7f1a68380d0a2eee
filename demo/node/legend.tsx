import { CLASSES, LEVELS, levelWord, toneOf } from '../lib/trust.js';
import { Known } from '../ui/known.js';
import { Panel } from '../ui/panel.js';

/** What the marks beside values mean. */
export function LegendPanel() {
  return (
    <Panel
      title="How a value is known"
      intro="Each answer of the node has one of these marks. Where it rests on blocks, the mark also says what they rest on."
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
        <summary>What a block rests on</summary>
        <dl class="legend">
          {(Object.keys(LEVELS) as (keyof typeof LEVELS)[]).map((name) => (
            <div key={name}>
              <dt>
                <span class={`known known-${toneOf({ class: 'proved', level: name })}`}>
                  <span class="known-word">{levelWord(name)}</span>
                </span>
              </dt>
              <dd>
                {LEVELS[name]} (level “{name}”)
              </dd>
            </div>
          ))}
        </dl>
      </details>
    </Panel>
  );
}
