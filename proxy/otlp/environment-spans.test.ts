// Spans without a policy: a real proxy sends them where its environment says, with the headers of the environment.
import { createServer, type IncomingMessage } from 'node:http'
import { expect, it } from 'vitest'
import { closeServer, listening } from '#test/ports.ts'
import { testProxy } from '#proxy/main.testing.ts'
import { until } from '#test/wait.ts'
import { resolveSettings } from '../runtime/settings.ts'

it('leave for the collector of the environment', async () => {
  const asked: IncomingMessage[] = []
  const collector = createServer((request, response) => {
    asked.push(request)
    request.resume().on('end', () => response.end())
  })
  const upstream = createServer((_request, response) => response.end('ok'))
  const port = await listening(collector)
  const { settings, problems } = resolveSettings(
    {},
    {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}/base`,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
      OTEL_EXPORTER_OTLP_HEADERS: 'Api-Key=for%20the%20collector',
      OTEL_TRACES_SAMPLER: 'always_on',
    },
  )
  expect(problems).toEqual([])
  const target = { static: { host: '127.0.0.1', port: await listening(upstream) } }
  const gateway = await testProxy({ otlp: settings.otlp, routes: [{ name: 'all', prefix: '/', backend: target }] })
  try {
    await (await fetch(gateway.url)).text()
    // What is gathered leaves at the end.
    await gateway.proxy.stop()
    await until('the collector is asked', () => asked.length > 0)
    const [request] = asked
    expect([request?.method, request?.url]).toEqual(['POST', '/base/v1/traces'])
    expect(request?.headers).toMatchObject({ 'api-key': 'for the collector', 'content-type': 'application/x-protobuf' })
  } finally {
    await gateway.stop()
    closeServer(upstream)
    closeServer(collector)
  }
})
