// One or two lines over the last hour, with the newest and the highest value as text.
export interface Line {
  readonly name: string
  /** The oldest first; null: no value at that time. */
  readonly values: readonly (number | null)[]
  /** Of failures. */
  readonly state?: 'warn' | 'bad'
}

export interface ChartProps {
  readonly title: string
  /** The second one is dashed. */
  readonly lines: readonly [Line] | readonly [Line, Line]
  readonly intervalSeconds: number
  readonly textOf: (value: number) => string
}

/** Of the drawing; the page scales it. */
const [WIDTH, HEIGHT] = [240, 96]

export function Chart({ title, lines, intervalSeconds, textOf }: ChartProps) {
  const known = lines.flatMap(({ values }) => values.filter((value) => value !== null))
  const highest = known.reduce((max, value) => Math.max(max, value), 0)
  const count = Math.max(...lines.map(({ values }) => values.length))
  const minutes = Math.max(1, Math.round((count * intervalSeconds) / 60))
  const newest = lines.map(({ name, values }) => `${name} ${newestText(values, textOf)}`)
  const top = textOf(highest)
  return (
    <figure class="chart">
      <figcaption>
        <span>{title}</span>
        <span class="newest">
          {lines.map(({ name, values, state }, i) => (
            <span key={name}>
              <span class={`key${i} ${state ?? ''}`} aria-hidden="true">
                {i === 0 ? '— ' : '┄ '}
              </span>
              {name} <b>{newestText(values, textOf)}</b>
            </span>
          ))}
        </span>
      </figcaption>
      <div class="plot">
        <svg
          viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={`${title}, the last ${minutes} min: ${newest.join(', ')}; highest ${top}`}
        >
          {GRID.map((share) => (
            <line key={share} x1="0" x2={WIDTH} y1={yOf(share)} y2={yOf(share)} />
          ))}
          {lines[0] !== undefined && lines[1] === undefined && (
            <path class="area" d={areaOf(lines[0].values, highest)} />
          )}
          {lines.map(({ name, values, state }, i) => (
            <path key={name} class={`line${i} ${state ?? ''}`} d={pathOf(values, highest)} />
          ))}
        </svg>
        <span class="top">{top}</span>
      </div>
      <p aria-hidden="true">
        <span>{`${minutes} min ago`}</span>
        <span>now</span>
      </p>
    </figure>
  )
}

/** Shares of the highest value with a line. */
const GRID = [0, 0.5, 1]

function yOf(share: number): number {
  return HEIGHT - 2 - share * (HEIGHT - 4)
}

/** Below the line, where it has no gap. */
function areaOf(values: readonly (number | null)[], highest: number): string {
  if (values.length < 2 || values.includes(null)) return ''
  return `${pathOf(values, highest)}V${HEIGHT - 2}H0Z`
}

function newestText(values: readonly (number | null)[], textOf: (value: number) => string): string {
  const newest = values.at(-1)
  return newest === undefined || newest === null ? '–' : textOf(newest)
}

/** A gap where a value is missing; a value between two gaps is a short line. */
function pathOf(values: readonly (number | null)[], highest: number): string {
  const step = WIDTH / Math.max(1, values.length - 1)
  const y = (value: number): number => yOf(highest === 0 ? 0 : value / highest)
  return values
    .map((value, i) => {
      if (value === null) return ''
      const point = `${(i * step).toFixed(1)} ${y(value).toFixed(1)}`
      const former = values[i - 1]
      return former === undefined || former === null ? `M${point}h1` : `L${point}`
    })
    .join('')
}
