// The web UI of a controller (`/ui` of its admin server): Gateways with their proxies, and objects with problems.
// It reads `/overview`, and changes nothing.
import { render } from 'preact'
import { useState } from 'preact/hooks'
import type { ControllerOverview } from '#api/admin/controller-overview.ts'
import { ask } from './api.ts'
import { Cards } from './parts/cards.tsx'
import { Filter, isShown } from './parts/filter.tsx'
import { countText } from './parts/numbers.ts'
import { Table } from './parts/table.tsx'
import { usePolled } from './polled.ts'

const EVERY_MS = 3000

type Gateway = ControllerOverview['gateways'][number]
type Proxy = Gateway['proxies'][number] & { readonly gateway: string }

async function overview(signal: AbortSignal): Promise<ControllerOverview> {
  return (await (await ask('overview', { signal })).json()) as ControllerOverview // of the same program
}

function App() {
  const { value, problem } = usePolled(overview, EVERY_MS)
  return (
    <main id="content">
      <h1>Gw controller</h1>
      {problem !== undefined && (
        <p class="notice" role="alert">
          {problem}
        </p>
      )}
      {value === undefined ? problem === undefined && <p>Loading.</p> : <Overview {...value} />}
    </main>
  )
}

function Overview({ version, isLeading, objects, gateways, conditions, problems }: ControllerOverview) {
  const [text, setText] = useState('')
  const proxies = gateways.flatMap(({ key, proxies: own }) => own.map((proxy): Proxy => ({ gateway: key, ...proxy })))
  const behind = proxies.filter(({ isBehind, rejected }) => isBehind || rejected !== undefined).length
  const open = gateways.filter(({ programmed }) => programmed?.isTrue !== true).length
  return (
    <>
      <Cards
        cards={[
          { name: 'version', value: version },
          { name: 'this replica', value: isLeading ? 'leader' : 'waits' },
          { name: 'Gateways', value: gateways.length },
          { name: 'Gateways not programmed', value: open, state: open === 0 ? 'good' : 'warn' },
          { name: 'proxies', value: proxies.length },
          { name: 'proxies behind', value: behind, state: behind === 0 ? 'good' : 'warn' },
          { name: 'problems', value: problems.length, state: problems.length === 0 ? 'good' : 'warn' },
          ...['HTTPRoute', 'GRPCRoute', 'GwPolicy', 'GwBackend', 'GwModel'].map((kind) => ({
            name: kind,
            value: objects[kind],
          })),
        ]}
      />
      <h2>Find</h2>
      <Filter label="Object, pod, reason or message" text={text} onText={setText} />
      <h2>Gateways</h2>
      <Table
        caption="Gateways"
        columns={[
          { head: 'Gateway', cell: ({ key }: Gateway) => key },
          { head: 'Programmed', cell: ({ programmed }) => <Programmed programmed={programmed} /> },
          { head: 'Listeners', cell: ({ listeners }) => countText(listeners), isNumber: true },
          { head: 'Rules', cell: ({ routes }) => countText(routes), isNumber: true },
          { head: 'Backends', cell: ({ backends }) => countText(backends), isNumber: true },
          { head: 'Policies', cell: ({ policies }) => countText(policies), isNumber: true },
          { head: 'Web UI of a proxy', cell: ({ key }) => <code>{commandOf(key)}</code> },
        ]}
        rows={gateways.filter(({ key, programmed }) => isShown(text, [key, programmed?.message ?? '']))}
        keyOf={({ key }) => key}
        empty="No Gateway names a GatewayClass of this controller."
      />
      <h2>Proxies</h2>
      <Table
        caption="Proxies"
        columns={[
          { head: 'Gateway', cell: ({ gateway }: Proxy) => gateway },
          { head: 'Pod', cell: ({ pod }) => pod },
          { head: 'Delivery in force', cell: ({ generation }) => (generation === 0 ? '' : generation), isNumber: true },
          { head: 'State', cell: (proxy) => <State proxy={proxy} /> },
        ]}
        rows={proxies.filter(({ gateway, pod, rejected = '' }) => isShown(text, [gateway, pod, rejected]))}
        keyOf={({ gateway, pod }) => `${gateway} ${pod}`}
        empty="No proxy has reported the delivery that it has in force."
      />
      <Troubles text={text} conditions={conditions} problems={problems} />
    </>
  )
}

interface TroublesProps extends Pick<ControllerOverview, 'conditions' | 'problems'> {
  /** Of the filter. */
  readonly text: string
}

function Troubles({ text, conditions, problems }: TroublesProps) {
  return (
    <>
      <h2>Conditions that report a problem</h2>
      <Table
        caption="Conditions that report a problem"
        columns={[
          { head: 'Object', cell: ({ object }: (typeof conditions)[number]) => object },
          { head: 'Condition', cell: ({ type, status }) => `${type}: ${status}` },
          { head: 'Reason', cell: ({ reason }) => reason },
          { head: 'Message', cell: ({ message }) => message },
        ]}
        rows={conditions.filter(({ object, reason, message }) => isShown(text, [object, reason, message]))}
        keyOf={({ object, type, reason, message }) => [object, type, reason, message].join(' ')}
        empty="All objects are accepted, and all references of routes are resolved."
      />
      <h2>Problems of objects</h2>
      <Table
        caption="Problems of objects"
        columns={[
          { head: 'Object', cell: ({ object }: (typeof problems)[number]) => object },
          { head: 'Field', cell: ({ path }) => <span class="mono">{path}</span> },
          {
            head: 'Level',
            cell: ({ severity }) => <span class={severity === 'error' ? 'bad' : 'warn'}>{severity}</span>,
          },
          { head: 'Reason', cell: ({ reason }) => reason },
          { head: 'Message', cell: ({ message }) => message },
        ]}
        rows={problems.filter(({ object, path, reason, message }) => isShown(text, [object, path, reason, message]))}
        keyOf={({ object, path, reason, message }) => [object, path, reason, message].join(' ')}
        empty="No object has a problem."
      />
    </>
  )
}

function Programmed({ programmed }: Pick<Gateway, 'programmed'>) {
  if (programmed === undefined) return <span class="warn">not yet</span>
  return programmed.isTrue ? <span class="good">yes</span> : <span class="bad">{`no: ${programmed.message}`}</span>
}

function State({ proxy: { isBehind, rejected } }: { readonly proxy: Proxy }) {
  if (rejected !== undefined) return <span class="bad">{`rejected a newer delivery: ${rejected}`}</span>
  return isBehind ? <span class="warn">behind</span> : <span class="good">current</span>
}

function commandOf(key: string): string {
  const [namespace = '', name = ''] = key.split('/')
  return `gw ui gateway/${name} -n ${namespace}`
}

const root = document.getElementById('app')
if (root !== null) {
  root.replaceChildren()
  render(<App />, root)
}
