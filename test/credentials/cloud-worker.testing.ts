// Entry of a worker whose requests to clouds go to the endpoints of a test, as `CloudEndpoints.send` leads them there.
const AUTHORITY = process.env['GW_TEST_CLOUDS'] ?? ''
const send = globalThis.fetch

globalThis.fetch = async (input, init) => {
  const url = new URL(input instanceof Request ? input.url : input)
  const headers = new Headers(init?.headers)
  headers.set('x-meant', url.host)
  return send(`http://${AUTHORITY}${url.pathname}${url.search}`, { ...init, headers })
}

await import('../../proxy/worker.ts')
