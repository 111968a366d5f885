/** A number of things, with thin groups: `6 067`. */
export function count(value: number): string {
  return Math.round(value)
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, " ");
}

/** A number of things as short as it can be said: `950`, `6.1k`, `124k`, `2.3M`. */
export function briefly(value: number): string {
  if (value < 999.5) return String(Math.round(value));
  const [scaled, unit] = value < 999_500 ? [value / 1_000, "k"] : [value / 1_000_000, "M"];
  return `${scaled < 9.95 ? scaled.toFixed(1) : Math.round(scaled)}${unit}`;
}

/** A ratio: `0.97×`, `5.3×`, `42×`. */
export function times(value: number): string {
  return `${value < 1.995 ? value.toFixed(2) : value < 19.95 ? value.toFixed(1) : Math.round(value)}×`;
}

/** Milliseconds, with as many digits as mean something. */
export function latency(ms: number): string {
  return ms < 0.0995 ? ms.toFixed(4) : ms < 9.995 ? ms.toFixed(2) : ms.toFixed(1);
}
