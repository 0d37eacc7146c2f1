// How do I use it? Settings and commands of clients with the address of a listener, for models and for MCP servers.
import { useState } from 'preact/hooks'
import type { Dump } from '../api.ts'
import { providerRows, serverRows } from '../backend-parts.ts'
import { offeredModels } from '../offered-models.ts'
import { listenerUrls } from '../listener-urls.ts'
import { CopyButton } from '../parts/copy-button.tsx'
import { Choice, TextField } from '../parts/fields.tsx'

interface Snippet {
  readonly name: string
  readonly text: string
}

export function Connect({ dump }: { readonly dump: Dump }) {
  const urls = listenerUrls(dump)
  const models = offeredModels(dump).map(({ name }) => name)
  const [url, setUrl] = useState(urls[0] ?? 'http://localhost:8080')
  const [model, setModel] = useState(models.find((name) => !name.includes('*')) ?? 'gpt-5')
  const hasModels = models.length > 0 || providerRows(dump).length > 0
  const hasServers = serverRows(dump).length > 0
  return (
    <>
      <p>
        For clients on this machine; elsewhere, use the name by which they reach the gateway. If a route requires a key,
        set it in the variable <code>GW_KEY</code> of your shell.
      </p>
      <form onSubmit={(event) => event.preventDefault()}>
        {urls.length > 1 ? (
          <Choice label="Listener" value={url} options={urls} onValue={setUrl} />
        ) : (
          <TextField label="Address" value={url} onValue={setUrl} />
        )}
        {hasModels && <TextField label="Model" value={model} options={models} onValue={setModel} />}
      </form>
      {hasModels && <Snippets title="Models" snippets={modelSnippets(url, model)} />}
      {hasServers && <Snippets title="MCP servers" snippets={serverSnippets(url)} />}
      {!hasModels && !hasServers && <Snippets title="HTTP" snippets={[{ name: 'curl', text: `curl -i ${url}/` }]} />}
    </>
  )
}

function Snippets({ title, snippets }: { readonly title: string; readonly snippets: readonly Snippet[] }) {
  return (
    <>
      <h2>{title}</h2>
      {snippets.map(({ name, text }) => (
        <section key={name} aria-label={`${title}: ${name}`}>
          <div class="bar">
            <h3>{name}</h3>
            <CopyButton name={name} text={text} />
          </div>
          <pre tabIndex={0} aria-label={name}>
            {text}
          </pre>
        </section>
      ))}
    </>
  )
}

/** Those of docs/llm/coding-agents.md and docs/llm/start.md. */
function modelSnippets(url: string, model: string): Snippet[] {
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'hello' }] }).replaceAll(
    "'",
    String.raw`'\''`,
  )
  return [
    {
      name: 'curl',
      text: [
        `curl ${url}/v1/chat/completions -H "authorization: Bearer $GW_KEY" \\`,
        `  -H 'content-type: application/json' -d '${body}'`,
      ].join('\n'),
    },
    { name: 'SDKs of OpenAI', text: `export OPENAI_BASE_URL=${url}/v1 OPENAI_API_KEY=$GW_KEY` },
    {
      name: 'SDKs of Anthropic, Claude Code',
      text: `export ANTHROPIC_BASE_URL=${url} ANTHROPIC_AUTH_TOKEN=$GW_KEY ANTHROPIC_MODEL=${model}`,
    },
    {
      name: 'Codex: ~/.codex/config.toml',
      text: [
        `model = ${JSON.stringify(model)}`,
        'model_provider = "gw"',
        '',
        '[model_providers.gw]',
        'name = "Gateway"',
        `base_url = "${url}/v1"`,
        'env_key = "GW_KEY"',
        'wire_api = "responses"',
      ].join('\n'),
    },
    {
      name: 'Cursor: Settings, Models',
      text: [
        `Override OpenAI Base URL: ${url}/v1, by a name that the internet reaches, with TLS`,
        'OpenAI API Key: your key',
      ].join('\n'),
    },
  ]
}

function serverSnippets(url: string): Snippet[] {
  const endpoint = `${url}/mcp`
  return [
    { name: 'Claude Code', text: `claude mcp add --transport http gw ${endpoint}` },
    { name: 'VS Code: .vscode/mcp.json', text: json({ servers: { gw: { type: 'http', url: endpoint } } }) },
    { name: 'Cursor: ~/.cursor/mcp.json', text: json({ mcpServers: { gw: { url: endpoint } } }) },
    { name: 'Check', text: `gw mcp check ${endpoint}` },
  ]
}

function json(value: object): string {
  return JSON.stringify(value, undefined, 2)
}
