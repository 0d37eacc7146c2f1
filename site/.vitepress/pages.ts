// The order of the pages: groups of the sidebar. Paths below docs, without `.md`. test/site.test.ts checks that each
// page is in one group.

export interface Group {
  readonly text: string
  /** Open when the reader enters. */
  readonly isOpen?: boolean
  readonly pages: readonly string[]
}

export const GROUPS: readonly Group[] = [
  {
    text: 'Start',
    isOpen: true,
    pages: [
      'llm/start',
      'mcp/protect-a-server',
      'start/from-ingress',
      'tasks',
      'features',
      'install',
      'cli',
      'standalone',
      'migrating',
      'troubleshooting',
      'compare',
    ],
  },
  {
    text: 'Concepts',
    pages: [
      'concepts/request-path',
      'concepts/policies',
      'concepts/delivery',
      'concepts/translation',
      'concepts/mcp-sessions',
    ],
  },
  {
    text: 'Tasks: traffic',
    isOpen: true,
    pages: [
      'tls',
      'http2',
      'load-balancing',
      'delegation',
      'shared-gateways',
      'dynamic-forward-proxy',
      'inference-pools',
      'mesh',
      'cel',
      'trace',
      'ui',
    ],
  },
  {
    text: 'Tasks: models (LLM)',
    pages: [
      'models',
      'model-formats',
      'llm/matrix',
      'llm/azure',
      'llm/bedrock',
      'llm/gemini',
      'llm/vertex',
      'llm/coding-agents',
      'llm/failover',
      'llm/cost',
      'llm/budgets',
      'llm/token-counts',
      'llm/guards',
      'llm/guards-external',
      'llm/*',
    ],
  },
  {
    text: 'Tasks: MCP and agents',
    pages: [
      'mcp/index',
      'mcp/multiplexing',
      'mcp/sign-in',
      'mcp/guardrails',
      'mcp/tool-pinning',
      'mcp/openapi',
      'a2a',
      'agent-core',
      'mcp/*',
    ],
  },
  {
    text: 'Tasks: credentials for backends',
    pages: [
      'credentials/fetched',
      'credentials/cloud-a',
      'credentials/cloud-b',
      'credentials/cloud-c',
      'credentials/oauth-token-exchange',
      'credentials/*',
    ],
  },
  { text: 'Policies', pages: ['policies/README', 'policies/*'] },
  {
    text: 'Operations',
    pages: [
      'deployment',
      'cluster',
      'backup',
      'environment',
      'observability',
      'alerts',
      'performance',
      'scale',
      'limits',
      'security',
    ],
  },
  { text: 'Reference', pages: ['reference/*', 'backend-addresses', 'conformance', 'cel-conformance'] },
  { text: 'Internals', pages: ['architecture', 'translation', 'adding-a-policy', 'contributing/*', 'adr/README'] },
  { text: 'Decisions', pages: ['adr/*'] },
]

/** The pages of a group; `*` stands for those of its folder that no group names. `all`: sorted, without `.md`. */
export function pagesOf({ pages }: Group, all: readonly string[]): string[] {
  const named = new Set(GROUPS.flatMap((group) => group.pages))
  return pages.flatMap((page) => {
    if (!page.endsWith('/*')) return [page]
    const folder = page.slice(0, -1)
    return all.filter((one) => one.startsWith(folder) && !named.has(one))
  })
}
