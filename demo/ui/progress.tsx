interface ProgressProps {
  readonly label: string;
  /** 0 to 1; undefined while the progress is not known. */
  readonly fraction: number | undefined;
}

function percentOf(fraction: number | undefined): number | undefined {
  return fraction === undefined ? undefined : Math.round(Math.min(1, Math.max(0, fraction)) * 100);
}

/** A bar alone: its label is for screen readers. */
export function ProgressBar({ label, fraction }: ProgressProps) {
  const percent = percentOf(fraction);
  return <progress aria-label={label} max={100} {...(percent !== undefined && { value: percent })} />;
}

/** A bar that says what is under way and how far it is. */
export function Progress({ label, fraction }: ProgressProps) {
  const percent = percentOf(fraction);
  return (
    <div class="progress">
      <div class="progress-line">
        <span>{label}</span>
        {percent !== undefined && <span class="figure">{percent} %</span>}
      </div>
      <ProgressBar label={label} fraction={fraction} />
    </div>
  );
}
