// Which tools may an identity call? The user gives claims instead of a token; the proxy evaluates its rules, and sends
// nothing.
import { useState } from 'preact/hooks'
import { type Dump, problemOf } from '../api.ts'
import { askMcpAccess, linesOf, type McpAccess as Access, type McpBackend, mcpBackends } from '../mcp-access.ts'
import type { McpItem } from '../mcp-session.ts'
import { Choice, TextArea } from './fields.tsx'
import { PolicySources } from './policy-sources.tsx'
import { Table } from './table.tsx'

const SAMPLE = {
  jwt: { sub: 'alice', roles: ['dev'] },
  source: { address: '10.0.0.7' },
  request: { headers: { 'x-role': 'admin' } },
}
const FIRST = 'the first'

export interface McpAccessProps {
  readonly dump: Dump
  /** That the page has listed. */
  readonly items: readonly McpItem[]
}

export function McpAccess({ dump, items }: McpAccessProps) {
  const backends = mcpBackends(dump)
  const [label, setLabel] = useState('')
  const [route, setRoute] = useState(FIRST)
  const [variables, setVariables] = useState(JSON.stringify(SAMPLE, undefined, 2))
  /** undefined: those that are known. */
  const [typed, setTyped] = useState<string | undefined>(undefined)
  const [access, setAccess] = useState<Access | undefined>(undefined)
  const [status, setStatus] = useState('')
  const backend = backends.find((one) => one.label === label) ?? backends[0]
  if (backend === undefined) return null
  const tools = typed ?? knownTools(backend, items)
  const choose = (chosen: string): void => {
    setLabel(chosen)
    setRoute(FIRST)
    setTyped(undefined)
    setAccess(undefined)
  }
  const evaluate = async (): Promise<void> => {
    setAccess(undefined)
    try {
      const form = { backend, route: route === FIRST ? '' : route, variables, tools }
      const answer = await askMcpAccess(form, new AbortController().signal)
      setAccess(answer)
      const allowed = answer.tools.filter(({ isAllowed }) => isAllowed).length
      setStatus(`${allowed} of ${answer.tools.length} tools are allowed, by the policies of the rule ${answer.route}.`)
    } catch (error) {
      setStatus(problemOf(error))
    }
  }
  return (
    <>
      <h2>Tools that an identity may call</h2>
      <p>
        Write the claims and other variables that rules read. The proxy evaluates <code>backend.mcp.authorization</code>{' '}
        for each tool. It sends nothing, and checks no token.
      </p>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void evaluate()
        }}
      >
        <Choice label="Backend" value={backend.label} options={backends.map((one) => one.label)} onValue={choose} />
        {backend.routes.length > 1 && (
          <Choice label="Rule" value={route} options={[FIRST, ...backend.routes]} onValue={setRoute} />
        )}
        <TextArea label="Identity, as JSON" rows={8} value={variables} onValue={setVariables} />
        <TextArea
          label={`Tools, one a line: ${backend.servers.length > 1 ? 'server/tool' : 'tool'}`}
          rows={4}
          value={tools}
          placeholder={`${backend.servers[0] ?? 'server'}/tool`}
          onValue={setTyped}
        />
        <button class="main" type="submit">
          Evaluate
        </button>
        <p role="status">{status}</p>
      </form>
      {access !== undefined && <Decisions access={access} dump={dump} />}
    </>
  )
}

function knownTools(backend: McpBackend, items: readonly McpItem[]): string {
  return [...new Set([...backend.tools, ...linesOf(items, backend)])].join('\n')
}

type Tool = Access['tools'][number]

function Decisions({ access, dump }: { readonly access: Access; readonly dump: Dump }) {
  const { deny, tools } = access
  return (
    <>
      {deny !== null && (
        <div class="notice">
          All requests are rejected, because a policy cannot be enforced: {deny.message}
          <PolicySources sources={deny.sources} field="deny" dump={dump} />
        </div>
      )}
      <Table
        caption="Tools that the identity may call"
        columns={[
          { head: 'Server', cell: ({ server }: Tool) => server },
          { head: 'Tool', cell: ({ name }) => <span class="mono">{name}</span> },
          {
            head: 'Result',
            cell: ({ isAllowed }) => (
              <span class={isAllowed ? 'good' : 'bad'}>{isAllowed ? 'allowed' : 'not allowed'}</span>
            ),
          },
          { head: 'Decided by', cell: (tool) => <DecidedBy tool={tool} access={access} dump={dump} /> },
          { head: 'Not evaluated', cell: ({ problems }) => <Problems problems={problems} access={access} /> },
        ]}
        rows={tools}
        keyOf={({ server, name }) => `${server} ${name}`}
        empty="Write the name of a tool."
      />
    </>
  )
}

interface DecisionProps {
  readonly access: Access
  readonly tool: Tool
  readonly dump: Dump
}

function DecidedBy({ access: { deny, rules }, tool: { decidedBy, isAllowed }, dump }: DecisionProps) {
  const rule = decidedBy === null ? undefined : rules[decidedBy]
  if (deny !== null) return <>the policy above</>
  if (rule === undefined) return <>{isAllowed ? 'no rule' : 'no Allow rule matches'}</>
  const { action, expressions, source } = rule
  return (
    <>
      {`${action}${action === 'Require' && !isAllowed ? ', which does not match' : ''}: `}
      <span class="mono">{expressions.join(' && ')}</span>
      {source !== null && <PolicySources sources={[source]} field="mcpAuthorization" dump={dump} />}
    </>
  )
}

function Problems({ problems, access: { rules } }: Pick<DecisionProps, 'access'> & Pick<Tool, 'problems'>) {
  return (
    <>
      {problems.map(({ rule, message }) => (
        <div key={rule}>
          {message} in <span class="mono">{rules[rule]?.expressions.join(' && ')}</span>
        </div>
      ))}
    </>
  )
}
