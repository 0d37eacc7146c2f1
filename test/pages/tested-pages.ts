// Which test runs the commands in the code blocks of a page. tested-pages.test.ts fails for a command without a test.
import { commandsOf, type PageCommand } from './page-commands.ts'

/** Commands of one page that a test runs. */
interface Claim {
  readonly test: string
  /** Without it: all that the previous claims of the page leave. */
  readonly matching?: RegExp
}

/** By test/pages/quickstart-pages.test.ts: a block with `$ ` at a time, with the outputs of the page. */
export const QUICKSTART_PAGES = [
  'README.md',
  'docs/concepts/request-path.md',
  'docs/observability.md',
  'docs/trace.md',
  'docs/ui.md',
] as const

const QUICKSTART = 'test/pages/quickstart-pages.test.ts'
/** Against the quickstart as well; these pages show no output. */
const LOCAL = 'test/pages/local-commands.test.ts'
const STARTS = 'test/pages/starts.test.ts'
const VENDORS = 'test/conformance/vendor-pages.test.ts'
const SIGN_IN = 'test/mcp-sign-in/tutorial.test.ts'
const PROVIDER = 'test/mcp-sign-in/page-commands.test.ts'
const RELEASE = 'test/release/release.test.ts'
const REGISTRY = 'test/release/registry.test.ts'
/** `make pages`. */
const START = 'test/pages/cluster/10-start.test.ts'
const LOOK = 'test/pages/cluster/20-look.test.ts'
const INSTALL = 'test/pages/cluster/30-install.test.ts'

const IN_CLUSTER = /gateway\/web|pod\/web|deployment\/web|--controller|^kubectl/

export const RUN_BY: Readonly<Record<string, readonly Claim[]>> = {
  'README.md': [
    { test: 'test/quickstart/make-run.test.ts', matching: /^make run/ },
    { test: QUICKSTART, matching: /127\.0\.0\.1/ },
    { test: START },
  ],
  'docs/alerts.md': [{ test: START }],
  'docs/backup.md': [{ test: LOOK }],
  'docs/cli.md': [
    { test: 'test/cli/page.test.ts', matching: /^gw (?:validate -[fo]|translate)/ },
    { test: STARTS, matching: /^gw run/ },
    { test: LOCAL, matching: /--local|heap\.pb|completion/ },
    { test: PROVIDER, matching: /^gw mcp check/ },
    { test: 'test/pages/tool-pinning.test.ts', matching: /^gw mcp pins/ },
    { test: LOOK },
  ],
  'docs/concepts/policies.md': [{ test: LOOK }],
  'docs/concepts/request-path.md': [{ test: QUICKSTART }],
  'docs/contributing/releasing.md': [
    { test: INSTALL, matching: /^kubectl/ },
    { test: REGISTRY, matching: /crane|127\.0\.0\.1:5000|publish\.sh|jq|skopeo/ },
    { test: RELEASE },
  ],
  'docs/credentials/fetched.md': [{ test: 'test/pages/fetched-credentials.test.ts' }],
  'docs/install.md': [{ test: START, matching: /kind-up|kind-load|make deploy|samples|Programmed/ }, { test: INSTALL }],
  'docs/llm/azure.md': [{ test: VENDORS }],
  'docs/llm/bedrock.md': [{ test: VENDORS }],
  'docs/llm/coding-agents.md': [{ test: 'test/agents/agents.test.ts' }],
  'docs/llm/failover.md': [{ test: 'test/pages/failover.test.ts' }],
  'docs/llm/gemini.md': [{ test: VENDORS }],
  'docs/llm/guards.md': [{ test: 'test/pages/guards.test.ts' }],
  'docs/llm/model-traits.md': [{ test: STARTS }],
  'docs/llm/start.md': [{ test: 'test/pages/start.test.ts' }],
  'docs/llm/vertex.md': [{ test: LOOK, matching: /^kubectl/ }, { test: VENDORS }],
  'docs/mcp/index.md': [{ test: STARTS }],
  'docs/mcp/protect-a-server.md': [{ test: SIGN_IN }],
  'docs/mcp/sign-in.md': [{ test: STARTS, matching: /gw run/ }, { test: PROVIDER }],
  'docs/mcp/tool-pinning.md': [{ test: 'test/pages/tool-pinning.test.ts' }],
  'docs/migrating.md': [{ test: STARTS, matching: /^gw run/ }, { test: 'test/pages/migrating.test.ts' }],
  'docs/models.md': [{ test: LOOK }],
  'docs/observability.md': [{ test: QUICKSTART }],
  'docs/start/from-ingress.md': [{ test: START, matching: /make/ }, { test: 'test/e2e/37-from-ingress.test.ts' }],
  'docs/trace.md': [{ test: LOCAL, matching: /pprof|heap\.pb/ }, { test: QUICKSTART }],
  'docs/troubleshooting.md': [{ test: LOOK }],
  'docs/ui.md': [
    { test: STARTS, matching: /gw run/ },
    { test: LOOK, matching: IN_CLUSTER },
    { test: LOCAL, matching: /--local|debug\/send/ },
    { test: QUICKSTART },
  ],
}

/** All of its pages but the README. */
export const POLICIES = { folder: 'docs/policies/', test: 'test/conformance/pages.test.ts' } as const

/** Pages with commands for developers; docs-commands.test.ts checks these, and lists the tests that they select. */
export const PAGES_FOR_DEVELOPERS: readonly string[] = [
  'CONTRIBUTING.md',
  'docs/adding-a-policy.md',
  'docs/conformance.md',
  'docs/contributing/testing.md',
  'docs/llm/matrix.md',
]
const FOR_DEVELOPERS = /^(?:[A-Z_]+=\S+ |\/usr\/bin\/time -v |npx )*(?:vitest run|make [a-z-]+|node test\/)/

export function isForDevelopers({ page, command }: PageCommand): boolean {
  return PAGES_FOR_DEVELOPERS.includes(page) && FOR_DEVELOPERS.test(command)
}

/** Commands that no test runs, by a text of each, and why. */
export const NOT_RUN: readonly { readonly page: string; readonly matching: RegExp; readonly why: string }[] = [
  {
    page: 'docs/mesh.md',
    matching: /^kubectl get pods -n mesh-demo -l app=echo .*redirection/,
    why: 'prints an annotation that the CNI plugin of Istio sets',
  },
  {
    page: 'docs/mesh.md',
    matching: /^curl http:\/\/\$\(kubectl get gateway mesh |\| grep 'transport="hbone"'$/,
    why: 'shows a tunnel to the Pod of the sample, which ztunnel accepts; test/mesh/cluster has a Pod of its own with HBONE',
  },
  {
    page: 'docs/mesh.md',
    matching:
      /^kubectl apply -f config\/samples\/mesh\/mesh\.yaml$|^token=\$\(kubectl exec -n mesh-demo |^kubectl port-forward -n mesh-demo |\| jq \.config\.mesh$/,
    why: 'is a step between the two above; test/mesh/cluster applies the sample and reads the metrics of the proxy',
  },
  {
    page: 'docs/compare.md',
    matching: /^GW_BENCH_LITELLM=/,
    why: 'measures for a minute on a quiet machine, and needs nginx, wrk and LiteLLM',
  },
  {
    page: 'docs/contributing/releasing.md',
    matching: /^cosign verify/,
    why: 'cosign builds for many minutes; test/release/cosign.test.ts verifies the same signatures',
  },
  {
    page: 'docs/mcp/protect-a-server.md',
    matching: /inspector|claude mcp add/,
    why: 'opens a browser or changes settings of a user; the test signs in with the SDK of these clients',
  },
]

/** The commands of a page that the test has to run. */
export function commandsFor(test: string, page: string): PageCommand[] {
  return commandsOf(page).filter((command) => runnerOf(command) === test)
}

/** The test that runs a command; undefined: none. */
export function runnerOf({ page, command }: PageCommand): string | undefined {
  if (NOT_RUN.some((one) => one.page === page && one.matching.test(command))) return undefined
  if (page.startsWith(POLICIES.folder)) return POLICIES.test
  return RUN_BY[page]?.find(({ matching }) => matching?.test(command) ?? true)?.test
}

/** Why a test has not run exactly these commands of the page; undefined: it has. */
export function deviationFrom(test: string, page: string, commands: readonly string[]): string | undefined {
  const expected = commandsFor(test, page).map(({ command }) => command)
  const missing = expected.filter((command) => !commands.includes(command))
  return missing.length === 0 ? undefined : `${page}: not run: ${missing.join('; ')}`
}
