// One or two lines over the last hour, with the newest and the highest value as text.
export interface Line {
  readonly name: string
  /** The oldest first; null: no value at that time. */
  readonly values: readonly (number | null)[]
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
  return (
    <figure class="chart">
      <figcaption>
        <span>{title}</span>
        <span class="soft">{`highest ${textOf(highest)}`}</span>
      </figcaption>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${title}, the last ${minutes} min: ${newest.join(', ')}; highest ${textOf(highest)}`}
      >
        <line x1="0" x2={WIDTH} y1={HEIGHT - 1} y2={HEIGHT - 1} />
        {lines.map(({ name, values }, i) => (
          <path key={name} class={`line${i}`} d={pathOf(values, highest)} />
        ))}
      </svg>
      <p>
        {newest.map((text, i) => (
          <span key={text}>
            <span class={`key${i}`} aria-hidden="true">
              {i === 0 ? '— ' : '- - '}
            </span>
            {text}
          </span>
        ))}
        <span>{`${minutes} min`}</span>
      </p>
    </figure>
  )
}

function newestText(values: readonly (number | null)[], textOf: (value: number) => string): string {
  const newest = values.at(-1)
  return newest === undefined || newest === null ? '–' : textOf(newest)
}

/** A gap where a value is missing; a value between two gaps is a short line. */
function pathOf(values: readonly (number | null)[], highest: number): string {
  const step = WIDTH / Math.max(1, values.length - 1)
  const y = (value: number): number => HEIGHT - 2 - (highest === 0 ? 0 : (value / highest) * (HEIGHT - 4))
  return values
    .map((value, i) => {
      if (value === null) return ''
      const point = `${(i * step).toFixed(1)} ${y(value).toFixed(1)}`
      const former = values[i - 1]
      return former === undefined || former === null ? `M${point}h1` : `L${point}`
    })
    .join('')
}
