// The web UI of a proxy (`/ui` of its admin server). It reads what `gw proxy config` and `gw proxy trace` read, with the
// same words; without UI_ACTIONS it changes and sends nothing. The part of the URL after `#` is the page.
import type { ComponentType } from 'preact'
import { render } from 'preact'
import { configDump, type Dump, overview } from './api.ts'
import { hrefOf, usePlace } from './place.ts'
import { Backends } from './pages/backends.tsx'
import { CelPlayground } from './pages/cel-playground.tsx'
import { Chat } from './pages/chat.tsx'
import { Connect } from './pages/connect.tsx'
import { Configuration } from './pages/configuration.tsx'
import { McpPlayground } from './pages/mcp-playground.tsx'
import { McpServers } from './pages/mcp-servers.tsx'
import { Limits } from './pages/limits.tsx'
import { Models } from './pages/models.tsx'
import { Overview } from './pages/overview.tsx'
import { Policies } from './pages/policies.tsx'
import { Requests } from './pages/requests.tsx'
import { RouteTester } from './pages/route-tester.tsx'
import { Routes } from './pages/routes.tsx'
import { System } from './pages/system.tsx'
import { Frame } from './parts/frame.tsx'
import { Loaded } from './parts/loaded.tsx'

const EVERY_MS = 3000

interface Page {
  readonly path: string
  readonly title: string
  /** undefined: the overview, which does not wait for the whole configuration. */
  readonly View?: ComponentType<{ readonly dump: Dump }>
}

const OVERVIEW: Page = { path: '', title: 'Overview' }
const GROUPS: readonly (readonly [name: string, pages: readonly Page[]])[] = [
  [
    'Traffic',
    [
      OVERVIEW,
      { path: 'requests', title: 'Requests', View: Requests },
      { path: 'routes', title: 'Routes', View: Routes },
      { path: 'policies', title: 'Policies', View: Policies },
      { path: 'limits', title: 'Limits', View: Limits },
      { path: 'backends', title: 'Backends', View: Backends },
    ],
  ],
  [
    'AI',
    [
      { path: 'models', title: 'Models', View: Models },
      { path: 'mcp-servers', title: 'MCP servers', View: McpServers },
    ],
  ],
  [
    'Try',
    [
      { path: 'route-tester', title: 'Route tester', View: RouteTester },
      { path: 'cel-playground', title: 'CEL playground', View: CelPlayground },
      { path: 'chat', title: 'Chat', View: Chat },
      { path: 'mcp-playground', title: 'MCP playground', View: McpPlayground },
      { path: 'connect', title: 'Connect', View: Connect },
    ],
  ],
  [
    'Process',
    [
      { path: 'configuration', title: 'Configuration', View: Configuration },
      { path: 'system', title: 'System', View: System },
    ],
  ],
]
const PAGES = GROUPS.flatMap(([, pages]) => pages)

function App() {
  const { page: wanted } = usePlace()
  const { path, title, View } = PAGES.find((page) => page.path === wanted) ?? OVERVIEW
  const groups = GROUPS.map(([name, pages]) => ({
    name,
    pages: pages.map((page) => ({ title: page.title, href: hrefOf(page.path), isCurrent: page.path === path })),
  }))
  return (
    <Frame groups={groups} title={title}>
      {View === undefined ? (
        <Loaded key="overview" ask={overview} everyMs={EVERY_MS}>
          {(figures) => <Overview figures={figures} />}
        </Loaded>
      ) : (
        <Loaded key="dump" ask={configDump} everyMs={EVERY_MS}>
          {(dump) => <View dump={dump} />}
        </Loaded>
      )}
    </Frame>
  )
}

const root = document.getElementById('app')
if (root !== null) {
  root.replaceChildren()
  render(<App />, root)
}
