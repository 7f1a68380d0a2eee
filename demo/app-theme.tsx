import { type Theme, theme } from './state/view.js';

const THEMES: readonly { readonly value: Theme; readonly label: string }[] = [
  { value: 'auto', label: 'Auto' },
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
];

/** Light, dark, or as the system has it. */
export function ThemeSwitch() {
  return (
    <fieldset class="theme">
      <legend class="hidden">Colours</legend>
      {THEMES.map(({ value, label }) => (
        <label key={value}>
          <input
            type="radio"
            name="theme"
            value={value}
            checked={theme.value === value}
            onChange={() => {
              theme.value = value;
            }}
          />
          <span>{label}</span>
        </label>
      ))}
    </fieldset>
  );
}
