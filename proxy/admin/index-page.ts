// The page of `/`, and of `/ui` where the web UI was not built: what the admin server
// has. A plain list for a person with a browser; nothing runs in it.

/** Path and what it is. Only those that a click may ask for. */
const ENTRIES: readonly (readonly [path: string, text: string])[] = [
  ['/ui', 'the web UI'],
  ['/config_dump', 'the current configuration, with live counters of endpoints'],
  ['/overview', 'counts, listeners and what needs attention'],
  ['/logging', 'log level; POST with <code>?level=</code> changes it'],
  ['/memory', 'memory of the process and of each worker'],
  ['/traffic', 'requests, errors, latency, tokens and cost of the last hour'],
  ['/limits', 'rate limits: what is left, and what they rejected'],
  ['/model_usage', 'tokens and cost by gateway, route and client; <code>?since=</code> is a time of the last 48 hours'],
  ['/endpoints', 'endpoints with requests: health of the last hour, open connections'],
  ['/connections', 'open connections of clients, by listener'],
  ['/mcp_sessions', 'open sessions of MCP clients'],
  ['/model_prices', 'prices of models, from the model catalog'],
  ['/debug/trace', 'trace of the next request, as server-sent events'],
  ['/debug/tasks', 'requests in flight'],
  ['/debug/route?url=http://localhost/', 'which rule takes a request'],
  ['/debug/pprof/profile?seconds=10', 'CPU profile for <code>go tool pprof</code>'],
  ['/debug/pprof/heap', 'memory in use, for <code>go tool pprof</code>'],
]

const STYLE = 'body{font:16px/1.5 system-ui;margin:3rem auto;max-width:44rem;padding:0 1rem}'

/** In place of the web UI. */
export const NO_UI_PAGE = pageOf(
  '<p>The web UI is not built in this clone: run <code>make ui</code>, and load the page again.</p>\n',
)

export const INDEX_PAGE = pageOf('')

function pageOf(note: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Gw admin</title>
<style>${STYLE}</style>
<h1>Gw admin</h1>
${note}<ul>
${ENTRIES.map(([path, text]) => `<li><a href="${path}">${path}</a>: ${text}</li>`).join('\n')}
<li>POST <code>/quitquitquit</code>: graceful shutdown</li>
</ul>
</html>
`
}
