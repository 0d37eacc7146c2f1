// What do we use and spend? Names of models, providers with failover groups and health, and the use of each model.
import { useState } from 'preact/hooks'
import { fieldsOf } from '#cli/proxy/backends.ts'
import { type Dump, modelPrices, type ModelPrices, traffic as trafficOfHour } from '../api.ts'
import { type ProviderRow, providerRows } from '../backend-parts.ts'
import { offeredModels, type OfferedModel } from '../offered-models.ts'
import { Filter, isShown } from '../parts/filter.tsx'
import { Health, latencyOf } from '../parts/health.tsx'
import { countText, dollarsText } from '../parts/numbers.ts'
import { Table } from '../parts/table.tsx'
import { UsageOfTime } from '../parts/usage.tsx'
import { usePolled } from '../polled.ts'

const EVERY_MS = 5000

export function Models({ dump }: { readonly dump: Dump }) {
  const [text, setText] = useState('')
  const { value: traffic } = usePolled(trafficOfHour, EVERY_MS)
  const models = [...offeredModels(dump), ...aliases(dump)].filter(({ name, leadsTo }) =>
    isShown(text, [name, ...leadsTo]),
  )
  const providers = providerRows(dump).filter((row) =>
    isShown(text, [`${row.namespace}/${row.name}`, row.endpoint, row.vendor, row.model]),
  )
  const used = (traffic?.models ?? []).filter(({ provider, requested, served, route }) =>
    isShown(text, [provider, requested, served, route]),
  )
  return (
    <>
      <Filter label="Model, provider, backend, route or client" text={text} onText={setText} />
      <UsageOfTime text={text} />
      <h2>Use since the start of the proxy</h2>
      <Table
        caption="Use since the start of the proxy"
        columns={[
          { head: 'Provider', cell: ({ provider }: (typeof used)[number]) => provider },
          { head: 'Requested', cell: ({ requested }) => requested },
          { head: 'Served', cell: ({ served }) => served },
          { head: 'Route', cell: ({ route }) => route },
          { head: 'Requests', cell: ({ requests }) => countText(requests), isNumber: true },
          { head: 'Input tokens', cell: ({ inputTokens }) => countText(inputTokens), isNumber: true },
          { head: 'Output tokens', cell: ({ outputTokens }) => countText(outputTokens), isNumber: true },
          { head: 'Cost', cell: ({ cost }) => (cost > 0 ? dollarsText(cost) : ''), isNumber: true },
        ]}
        rows={used}
        keyOf={({ provider, requested, served, route }) => [provider, requested, served, route].join(' ')}
        empty="The proxy has sent no request to a model. Costs need a model catalog."
      />
      <h2>Names of models in requests</h2>
      <Table
        caption="Names of models in requests"
        columns={[
          { head: 'Name', cell: ({ name }: OfferedModel) => name },
          { head: 'Leads to', cell: ({ leadsTo }) => leadsTo.map((line) => <div key={line}>{line}</div>) },
        ]}
        rows={models}
        keyOf={({ name, leadsTo }) => [name, ...leadsTo].join(' ')}
        empty="No backend lists names of models, and no policy has aliases: names are sent as requested."
      />
      <h2>Providers</h2>
      <Table
        caption="Providers"
        columns={[
          { head: 'Backend', cell: ({ namespace, name }: ProviderRow) => `${namespace}/${name}` },
          { head: 'Group', cell: ({ group }) => group, isNumber: true },
          { head: 'Provider', cell: ({ endpoint }) => endpoint },
          { head: 'Vendor', cell: ({ vendor }) => vendor },
          { head: 'Model', cell: ({ model }) => model },
          { head: 'Address', cell: ({ address }) => <span class="mono">{address}</span> },
          { head: 'Health', cell: (row) => <Health row={row} />, isNumber: true },
          { head: 'Requests', cell: ({ requests }) => countText(requests), isNumber: true },
          { head: 'Latency', cell: latencyOf, isNumber: true },
        ]}
        rows={providers}
        keyOf={({ namespace, name, group, endpoint }) => [namespace, name, group, endpoint].join(' ')}
        empty="No backend has model providers."
      />
      <Prices text={text} />
    </>
  )
}

const PRICES_EVERY_MS = 60_000
/** The filter finds the others. */
const PRICES_MAX = 100

type Price = ModelPrices['models'][number]

function Prices({ text }: { readonly text: string }) {
  const { value, problem } = usePolled(modelPrices, PRICES_EVERY_MS)
  const found = (value?.models ?? []).filter(({ provider, model }) => isShown(text, [`${provider}/${model}`]))
  const more = found.length - PRICES_MAX + (value?.omitted ?? 0)
  const rate = (head: string, name: keyof Price['rates']) => ({
    head,
    cell: ({ rates: { [name]: dollars } }: Price) => (dollars === undefined ? '' : dollarsText(dollars)),
    isNumber: true,
  })
  return (
    <>
      <h2>Prices for a million tokens</h2>
      {problem !== undefined && <p class="notice">{problem}</p>}
      <Table
        caption="Prices for a million tokens"
        columns={[
          { head: 'Provider', cell: ({ provider }: Price) => provider },
          { head: 'Model', cell: ({ model }) => model },
          rate('Input', 'input'),
          rate('Output', 'output'),
          rate('Cache read', 'cacheRead'),
          rate('Cache write', 'cacheWrite'),
          { head: 'Long contexts', cell: tiersOf },
        ]}
        rows={found.slice(0, PRICES_MAX)}
        keyOf={({ provider, model }) => `${provider} ${model}`}
        empty={
          text === ''
            ? 'No model catalog: set config.modelCatalog for prices and costs.'
            : 'No priced model has this text.'
        }
      />
      {more > 0 && <p class="soft">{`${countText(more)} more: use the filter.`}</p>}
    </>
  )
}

function tiersOf({ tiers = [] }: Price): string {
  return tiers
    .map(({ contextOver, rates: { input, output } }) => {
      const parts = [input, output].map((dollars) => (dollars === undefined ? '–' : dollarsText(dollars)))
      return `over ${countText(contextOver)} tokens ${parts.join(' / ')}`
    })
    .join('; ')
}

/** Of policies. */
function aliases({ policies }: Dump): OfferedModel[] {
  return policies.flatMap(({ key, policy }) => {
    const { modelAliases } = fieldsOf(fieldsOf(policy['backend'])['ai'])
    return Object.entries(fieldsOf(modelAliases)).map(([name, model]) => ({
      name,
      leadsTo: [`the model ${String(model)}, by the policy ${key}`],
    }))
  })
}
