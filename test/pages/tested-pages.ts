// Which test runs the commands of a page whose output the page shows (lines that begin with `$ `).

/** By test/pages/quickstart-pages.test.ts. */
export const QUICKSTART_PAGES = ['README.md', 'docs/concepts/request-path.md', 'docs/trace.md', 'docs/ui.md'] as const

/** Test files of other pages. */
export const TESTS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(QUICKSTART_PAGES.map((page) => [page, 'test/pages/quickstart-pages.test.ts'])),
  'docs/cli.md': 'test/cli/page.test.ts',
  'docs/credentials/fetched.md': 'test/pages/fetched-credentials.test.ts',
  'docs/llm/azure.md': 'test/conformance/vendor-pages.test.ts',
  'docs/llm/bedrock.md': 'test/conformance/vendor-pages.test.ts',
  'docs/llm/coding-agents.md': 'test/agents/agents.test.ts',
  'docs/llm/gemini.md': 'test/conformance/vendor-pages.test.ts',
  'docs/llm/start.md': 'test/pages/start.test.ts',
  'docs/llm/vertex.md': 'test/conformance/vendor-pages.test.ts',
  'docs/mcp/tool-pinning.md': 'test/pages/tool-pinning.test.ts',
  'docs/migrating.md': 'test/pages/migrating.test.ts',
  'docs/start/from-ingress.md': 'test/e2e/37-from-ingress.test.ts',
}

/** Pages whose commands no test runs as they are, and why. */
export const WITHOUT_TEST: Readonly<Record<string, string>> = {
  'docs/alerts.md': 'needs the CRDs of the Prometheus Operator; test/monitoring checks the file that it applies',
}
