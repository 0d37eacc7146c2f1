// The web UI of a proxy (`/ui` of its admin server). It reads what `gw proxy config` and `gw proxy trace` read, with the
// same words; without UI_ACTIONS it changes and sends nothing. The part of the URL after `#` is the page.
import type { ComponentChildren, ComponentType } from 'preact'
import { render } from 'preact'
import { useEffect } from 'preact/hooks'
import { configDump, type Dump, overview } from './api.ts'
import { hrefOf, usePlace } from './place.ts'
import { usePolled } from './polled.ts'
import { Backends } from './pages/backends.tsx'
import { CelPlayground } from './pages/cel-playground.tsx'
import { Chat } from './pages/chat.tsx'
import { Connect } from './pages/connect.tsx'
import { Configuration } from './pages/configuration.tsx'
import { McpPlayground } from './pages/mcp-playground.tsx'
import { McpServers } from './pages/mcp-servers.tsx'
import { Models } from './pages/models.tsx'
import { Overview } from './pages/overview.tsx'
import { Policies } from './pages/policies.tsx'
import { Requests } from './pages/requests.tsx'
import { RouteTester } from './pages/route-tester.tsx'
import { Routes } from './pages/routes.tsx'
import { System } from './pages/system.tsx'

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
  useEffect(() => {
    document.title = `${title} · Gw`
    // On a phone the menu is one line that scrolls.
    document.querySelector('nav a[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' })
  }, [title])
  return (
    <div class="frame">
      <a class="skip" href="#content" onClick={focusContent}>
        Skip to the content
      </a>
      <header>
        <p class="brand">Gw</p>
        <nav aria-label="Pages">
          {GROUPS.map(([name, pages]) => (
            <div key={name}>
              <p>{name}</p>
              <ul>
                {pages.map((page) => (
                  <li key={page.path}>
                    <a href={hrefOf(page.path)} aria-current={page.path === path ? 'page' : undefined}>
                      {page.title}
                    </a>
                  </li>
                ))}
              </ul>
            </div>
          ))}
        </nav>
      </header>
      <main id="content" tabIndex={-1}>
        <h1>{title}</h1>
        {View === undefined ? (
          <Loaded key="overview" ask={overview}>
            {(figures) => <Overview figures={figures} />}
          </Loaded>
        ) : (
          <Loaded key="dump" ask={configDump}>
            {(dump) => <View dump={dump} />}
          </Loaded>
        )}
      </main>
    </div>
  )
}

interface LoadedProps<T> {
  readonly ask: (signal: AbortSignal) => Promise<T>
  readonly children: (value: T) => ComponentChildren
}

/** What pages show of the configuration, again and again. Pages with the same answer do not wait for it again. */
function Loaded<T>({ ask, children }: LoadedProps<T>) {
  const { value, problem, at } = usePolled(ask, EVERY_MS)
  return (
    <>
      {problem !== undefined && (
        <p class="notice" role="alert">
          {problem}
          {at !== undefined && `. This page shows the state of ${at.toLocaleTimeString('en-GB')}.`}
        </p>
      )}
      {value === undefined ? problem === undefined && <p>Loading the configuration.</p> : children(value)}
    </>
  )
}

/** Without a change of the page, which is in the same part of the URL. */
function focusContent(event: Event): void {
  event.preventDefault()
  document.getElementById('content')?.focus()
}

const root = document.getElementById('app')
if (root !== null) {
  root.replaceChildren()
  render(<App />, root)
}
