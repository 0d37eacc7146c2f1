// The web UI of a controller (`/ui` of its admin server): all Gateways, and for one of them its problems and what the
// controller has translated. It reads, and changes nothing.
import { type ComponentType, render } from 'preact'
import { useMemo } from 'preact/hooks'
import { ConfigurationSource } from './configuration-source.ts'
import { clusterOverview, gatewayReader, type GatewayView } from './controller-api.ts'
import { CLUSTER_HREF, gatewayHref, gatewayOfUrl } from './gateway-place.ts'
import { ClusterGateway } from './pages/cluster-gateway.tsx'
import { Cluster } from './pages/cluster.tsx'
import { Policies } from './pages/policies.tsx'
import { Routes } from './pages/routes.tsx'
import { TranslatedBackends } from './pages/translated-backends.tsx'
import { Frame, type MenuGroup } from './parts/frame.tsx'
import { Loaded } from './parts/loaded.tsx'
import { usePlace } from './place.ts'

const EVERY_MS = 3000

interface Page {
  readonly path: string
  readonly title: string
  readonly View: ComponentType<GatewayView>
}

const SUMMARY: Page = { path: '', title: 'Summary', View: ClusterGateway }
const PAGES: readonly Page[] = [
  SUMMARY,
  { path: 'routes', title: 'Routes', View: Routes },
  { path: 'policies', title: 'Policies', View: Policies },
  { path: 'backends', title: 'Backends', View: TranslatedBackends },
]

function App() {
  const key = gatewayOfUrl()
  const { page: wanted } = usePlace()
  const { path, title, View } = PAGES.find((page) => page.path === wanted) ?? SUMMARY
  const read = useMemo(() => gatewayReader(key), [key])
  const cluster: MenuGroup = {
    name: 'Cluster',
    pages: [{ title: 'All Gateways', href: CLUSTER_HREF, isCurrent: key === '' }],
  }
  if (key === '') {
    return (
      <Frame groups={[cluster]} title="All Gateways">
        <Loaded ask={clusterOverview} everyMs={EVERY_MS}>
          {(overview) => <Cluster {...overview} />}
        </Loaded>
      </Frame>
    )
  }
  const pages = PAGES.map((page) => ({
    title: page.title,
    href: gatewayHref(key, page.path),
    isCurrent: page.path === path,
  }))
  return (
    <Frame groups={[cluster, { name: key, pages }]} title={path === '' ? `Gateway ${key}` : `${title} of ${key}`}>
      <Loaded ask={read} everyMs={EVERY_MS}>
        {(view) => (
          <ConfigurationSource.Provider value={view.source}>
            <View {...view} />
          </ConfigurationSource.Provider>
        )}
      </Loaded>
    </Frame>
  )
}

const root = document.getElementById('app')
if (root !== null) {
  root.replaceChildren()
  render(<App />, root)
}
