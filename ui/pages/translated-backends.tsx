// Where do requests go? Backends of a translated configuration with their endpoints. Health and figures are in proxies.
import { useState } from 'preact/hooks'
import { type TranslatedEndpoint, translatedEndpoints } from '#cli/proxy/translated-dump.ts'
import type { GatewayView } from '../controller-api.ts'
import { Filter, isShown } from '../parts/filter.tsx'
import { ProxyUi } from '../parts/proxy-ui.tsx'
import { Table } from '../parts/table.tsx'
import { TerminalCommand } from '../parts/terminal-command.tsx'

export function TranslatedBackends({ gateway, dump }: GatewayView) {
  const [text, setText] = useState('')
  const rows = translatedEndpoints(dump).filter(({ name, namespace, endpoint }) =>
    isShown(text, [`${namespace}/${name}`, endpoint]),
  )
  return (
    <>
      <p class="soft">
        Health, requests and latency are in the web UI of a proxy: <ProxyUi gateway={gateway.key} />
      </p>
      <Filter label="Name or address" text={text} onText={setText} />
      <Table
        caption="Endpoints of backends"
        columns={[
          { head: 'Type', cell: ({ type }: TranslatedEndpoint) => type },
          { head: 'Backend', cell: ({ name, namespace }) => `${namespace}/${name}` },
          { head: 'Endpoint', cell: (row) => <Endpoint row={row} /> },
        ]}
        rows={rows}
        keyOf={({ type, name, namespace, endpoint }) => [type, namespace, name, endpoint].join(' ')}
        empty={text === '' ? 'No route of this Gateway names a backend.' : 'No endpoint has this text.'}
      />
      <TerminalCommand given="config backends --all" />
    </>
  )
}

function Endpoint({ row: { endpoint, missing, note } }: { readonly row: TranslatedEndpoint }) {
  if (missing !== undefined) return <span class="bad">{missing}</span>
  return (
    <>
      <span class="mono">{endpoint}</span>
      {note !== undefined && <span class="soft">{` ${note}`}</span>}
    </>
  )
}
