// The proxy as a process: configuration, readiness, reload under load, ports. Real sockets, real workers.
import { createServer } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { NO_SECRETS, answering, freePort, until } from './config.testing.ts'
import { once, startLoad } from './load.testing.ts'
import { startTestProxy, stopTestProxies } from './start.testing.ts'
import { firstOf } from '#test/run/table.ts'

afterEach(stopTestProxies)

const RELOADS = 50

describe('runProxy', () => {
  it('is ready only after the first configuration is in force', async () => {
    const { proxy, text } = await startTestProxy()
    const path = `http://127.0.0.1:${proxy.ports.readiness}/healthz/ready`
    const before = await fetch(path)
    expect([before.status, await before.text()]).toEqual([500, 'not ready, pending: configuration\n'])
    const port = await freePort()
    expect(await proxy.apply(answering([port], 'one'), NO_SECRETS)).toEqual({ generation: 1, warnings: [] })
    const after = await fetch(path)
    expect([after.status, await after.text()]).toEqual([200, 'ready\n'])
    expect(await once(port)).toMatchObject({ status: 200, body: 'one' })
    expect(await text('admin', '/config_dump')).toContain(`"${port}/infra/edge"`)
  })

  it('reports the memory of the process and of each worker', async () => {
    const { text } = await startTestProxy()
    interface Report {
      readonly process: Readonly<Record<string, number>>
      readonly workers: readonly { readonly worker: number; readonly heapUsed: number; readonly heapTotal: number }[]
    }
    const report = async (): Promise<Report> => JSON.parse(await text('admin', '/memory'))
    await expect
      .poll(async () => (await report()).workers.every(({ heapUsed }) => heapUsed > 0), { timeout: 10_000 })
      .toBe(true)
    const { process: all, workers } = await report()
    expect(Object.keys(all).sort()).toEqual([
      'arrayBuffers',
      'external',
      'heapTotal',
      'heapUsed',
      'mainHeapLimit',
      'mainMalloced',
      'residentMax',
      'rss',
    ])
    expect(workers.map(({ worker }) => worker)).toEqual([0, 1])
    // Threads have heaps of their own, all within the process.
    const { rss = 0, heapUsed = 0, heapTotal = 0, mainHeapLimit = 0, residentMax = 0 } = all
    for (const one of workers) expect(one.heapUsed).toBeLessThanOrEqual(one.heapTotal)
    expect(heapUsed).toBeLessThanOrEqual(heapTotal)
    expect(heapTotal).toBeLessThan(mainHeapLimit)
    expect(heapUsed + workers.reduce((sum, one) => sum + one.heapUsed, 0)).toBeLessThan(residentMax)
    // The proxy of this test runs in the process of the test: half and double leave room for what happens meanwhile.
    const own = process.memoryUsage.rss()
    expect(rss).toBeGreaterThan(own / 2)
    expect(rss).toBeLessThan(own * 2)
  })

  firstOf(1)([[2], [1]])(
    `serves every request of %i workers from one configuration over ${RELOADS} reloads`,
    async (workers) => {
      const { proxy, metric } = await startTestProxy({ workers })
      const port = await freePort()
      await proxy.apply(answering([port], 'generation-0'), NO_SECRETS)
      const load = startLoad({ port, clients: 8, reconnects: true })
      for (let i = 1; i <= RELOADS; i++) {
        const answered = load.count()
        await until('requests between reloads', () => load.count() > answered + 20)
        expect(await proxy.apply(answering([port], `generation-${i}`), NO_SECRETS)).toMatchObject({ warnings: [] })
        // All workers have it when apply resolves.
        for (let n = 0; n < 4; n++) expect((await once(port)).body).toBe(`generation-${i}`)
      }
      const result = await load.stop()
      expect(result.failures).toEqual([])
      const bodies = new Set(Array.from({ length: RELOADS + 1 }, (_, i) => `generation-${i}`))
      expect([...result.answers.keys()].filter((body) => !bodies.has(body))).toEqual([])
      expect(result.answers.size).toBeGreaterThan(RELOADS / 2)
      expect(await metric('gw_config_applied_total')).toBe(RELOADS + 1)
      // The last requests are counted after their answers went out.
      await expect.poll(() => metric('gw_requests_total'), { timeout: 5000 }).toBe(load.count() + RELOADS * 4)
    },
  )

  firstOf(1)([[2], [1]])(
    'keeps the last good configuration when %i workers refuse one, and reports it',
    async (workers) => {
      const { proxy, metric, text, log } = await startTestProxy({ workers })
      const port = await freePort()
      await proxy.apply(answering([port], 'good'), NO_SECRETS)
      const load = startLoad({ port, clients: 4, reconnects: true })
      const result = await proxy.apply(answering([port], 'bad', 'bad'), NO_SECRETS)
      expect(result).toMatchObject({ problem: { reason: 'Rejected', message: `bind bad${port}/infra/edge is bad` } })
      expect((await once(port)).body).toBe('good')
      expect((await load.stop()).failures).toEqual([])
      expect([...load.result.answers.keys()]).toEqual(['good'])
      expect(await metric('gw_config_rejected_total')).toBe(1)
      expect(await text('readiness', '/healthz/ready')).toBe(
        `ready\nlast configuration rejected: bind bad${port}/infra/edge is bad\n`,
      )
      expect(log()).toContain('configuration rejected, the last valid one stays in use')
      expect(await text('admin', '/config_dump')).not.toContain('"bad')
    },
  )

  it('puts a configuration in force nowhere when one worker refuses it', async () => {
    const { proxy, text } = await startTestProxy()
    const [port, added] = [await freePort(), await freePort()]
    await proxy.apply(answering([port], 'good'), NO_SECRETS)
    const load = startLoad({ port, clients: 8, reconnects: true })
    const result = await proxy.apply(answering([port, added], 'split', 'split'), NO_SECRETS)
    expect(result).toMatchObject({ problem: { message: 'only some workers can do this' } })
    for (let i = 0; i < 8; i++) expect((await once(port)).body).toBe('good')
    expect((await load.stop()).failures).toEqual([])
    expect([...load.result.answers.keys()]).toEqual(['good'])
    await until('the prepared port is closed again', () =>
      once(added).then(
        () => false,
        () => true,
      ),
    )
    expect(await proxy.apply(answering([port, added], 'next'), NO_SECRETS)).toEqual({ generation: 3, warnings: [] })
    for (let i = 0; i < 8; i++) expect((await once(added)).body).toBe('next')
    expect(await text('stats', '/metrics')).toContain('gw_config_generation 3\n')
  })

  firstOf(1)([[2], [1]])('refuses a configuration that kills a worker, and replaces it (of %i)', async (workers) => {
    const { proxy, metric } = await startTestProxy({ workers })
    const port = await freePort()
    await proxy.apply(answering([port], 'good'), NO_SECRETS)
    const result = await proxy.apply(answering([port], 'deadly', 'deadly'), NO_SECRETS)
    expect(result).toMatchObject({ problem: { message: 'a worker died while applying it (exit code 7)' } })
    await until('all workers are back', async () => (await metric('gw_workers{state="serving"}')) === workers)
    for (let i = 0; i < 8; i++) expect((await once(port)).body).toBe('good')
    expect(await proxy.apply(answering([port], 'next'), NO_SECRETS)).toEqual({ generation: 3, warnings: [] })
    for (let i = 0; i < 8; i++) expect((await once(port)).body).toBe('next')
  })

  it('opens new ports and lets removed ones go without failing their requests', async () => {
    const { proxy } = await startTestProxy()
    const [first, second] = [await freePort(), await freePort()]
    await proxy.apply(answering([first], 'a'), NO_SECRETS)
    const load = startLoad({ port: first, clients: 4, reconnects: false })
    await until('load', () => load.count() > 20)
    await proxy.apply(answering([second], 'b'), NO_SECRETS)
    await load.ended
    expect(load.result.failures).toEqual([])
    expect(load.result.announcedCloses).toBe(4)
    expect((await once(second)).body).toBe('b')
    await expect(once(first)).rejects.toThrow('ECONNREFUSED')
    await proxy.apply(answering([first, second], 'c'), NO_SECRETS)
    expect((await once(first)).body).toBe('c')
  })

  it('rejects a configuration whose port is in use, and names the process', async () => {
    const { proxy } = await startTestProxy()
    const [own, foreign] = [await freePort(), createServer()]
    await new Promise<void>((resolve) => {
      foreign.listen({ port: 0, host: '127.0.0.1', reusePort: true }, resolve)
    })
    const address = foreign.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    await proxy.apply(answering([own], 'good'), NO_SECRETS)
    const result = await proxy.apply(answering([own, port], 'bad'), NO_SECRETS)
    expect(result).toMatchObject({ problem: { reason: 'PortInUse' } })
    expect(JSON.stringify(result)).toContain(`127.0.0.1 port ${port}: the port is in use by this proxy itself`)
    expect((await once(own)).body).toBe('good')
    foreign.close()
  })

  it('fails to start with one clear error when its admin port is taken', async () => {
    const first = await startTestProxy()
    const { admin: port } = first.proxy.ports
    await expect(startTestProxy({ admin: { host: '127.0.0.1', port } })).rejects.toMatchObject({
      name: 'StartError',
      code: 'EADDRINUSE',
      what: 'admin server',
      port,
    })
  })

  it('writes one access log line for every request, whichever worker served it', async () => {
    const { proxy, log } = await startTestProxy({ accessLog: true })
    const port = await freePort()
    await proxy.apply(answering([port], 'x'), NO_SECRETS)
    const load = startLoad({ port, clients: 8, path: '/a?b=c', reconnects: true })
    await until('load', () => load.count() > 1000)
    await load.stop()
    await proxy.stop()
    const lines = log()
      .split('\n')
      .filter((line) => line.includes('\tinfo\trequest '))
    expect(lines.length).toBe(load.count())
    const shape = new RegExp(
      String.raw`^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{6}Z\tinfo\trequest gateway=infra/edge listener=http-${port} route=shop/all ` +
        String.raw`src\.addr=127\.0\.0\.1:\d+ http\.method=GET http\.host=test\.example http\.path=/a\?b=c ` +
        String.raw`http\.version=HTTP/1\.1 http\.status=200 reason=DirectResponse duration=\d+ms$`,
    )
    expect(lines.filter((line) => !shape.test(line))).toEqual([])
  })

  it('changes levels in all threads', { tags: ['full'] }, async () => {
    const { proxy, text, log } = await startTestProxy({ accessLog: true })
    const port = await freePort()
    await proxy.apply(answering([port], 'x'), NO_SECRETS)
    expect(await text('admin', '/logging?level=request=error,worker=debug', { method: 'POST' })).toBe(
      'current log level is info,request=error,worker=debug\n',
    )
    // Levels and configurations travel on the same channel, so after this apply the change is everywhere.
    await proxy.apply(answering([port], 'y'), NO_SECRETS)
    for (let i = 0; i < 8; i++) await once(port)
    await proxy.stop()
    expect(log()).not.toContain('\trequest ')
    expect(log()).toMatch(/debug\tworker configuration applied generation=2 worker=0/)
    expect(log()).toMatch(/debug\tworker configuration applied generation=2 worker=1/)
  })
})
