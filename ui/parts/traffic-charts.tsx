// The traffic of the last hour as charts; those of models only if models were used.
import type { Traffic } from '../api.ts'
import { Chart } from './chart.tsx'
import { countText, dollarsText, latencyText } from './numbers.ts'

const MINUTE_SECONDS = 60
const HOUR_SECONDS = 3600

export function TrafficCharts({ traffic }: { readonly traffic: Traffic }) {
  const { intervalSeconds, requests, clientErrors, serverErrors, inputTokens, outputTokens, cost } = traffic
  if (requests.length === 0)
    return <p class="soft">The first figures appear 15 seconds after the start of the proxy.</p>
  const per = (seconds: number, counts: readonly number[]): number[] =>
    counts.map((count) => (count * seconds) / intervalSeconds)
  const common = { intervalSeconds }
  return (
    <div class="charts">
      <Chart
        {...common}
        title="Requests a second"
        lines={[{ name: 'requests', values: per(1, requests) }]}
        textOf={countText}
      />
      <Chart
        {...common}
        title="Errors a second"
        lines={[
          { name: '5xx', values: per(1, serverErrors), state: 'bad' },
          { name: '4xx', values: per(1, clientErrors), state: 'warn' },
        ]}
        textOf={countText}
      />
      <Chart
        {...common}
        title="Latency"
        lines={[
          { name: 'p50', values: traffic.latencyP50 },
          { name: 'p99', values: traffic.latencyP99 },
        ]}
        textOf={latencyText}
      />
      {hasAny(inputTokens, outputTokens) && (
        <Chart
          {...common}
          title="Tokens a minute"
          lines={[
            { name: 'input', values: per(MINUTE_SECONDS, inputTokens) },
            { name: 'output', values: per(MINUTE_SECONDS, outputTokens) },
          ]}
          textOf={countText}
        />
      )}
      {hasAny(cost) && (
        <Chart
          {...common}
          title="Cost an hour"
          lines={[{ name: 'cost', values: per(HOUR_SECONDS, cost) }]}
          textOf={dollarsText}
        />
      )}
    </div>
  )
}

function hasAny(...lists: readonly (readonly number[])[]): boolean {
  return lists.some((list) => list.some((count) => count > 0))
}
