// Reports of certificates that expire: once in the log, always in metrics and the dump. The clock is the test's.
import { afterEach, expect, it } from 'vitest'
import { emptyConfig } from '#api/ir/empty.ts'
import type { RenderedConfig, RenderedSecrets } from '#api/ir/types.gen.ts'
import { certificateFor } from '#test/certificates.ts'
import { parseLevelFilter } from '../log/level-filter.ts'
import { createLogger } from '../log/logger.ts'
import { CertificateWatch } from './certificate-watch.ts'

const DAY_MS = 24 * 3_600_000
const madeMs = Date.now()
const days = (count: number): number => madeMs + 60_000 + count * DAY_MS
const short = certificateFor({ commonName: 'short', days: 10 })
const long = certificateFor({ commonName: 'long', days: 1000 })

const watches: CertificateWatch[] = []
afterEach(() => watches.splice(0).forEach((one) => one.close()))

function watchAt(start: number): { watch: CertificateWatch; lines: () => string[]; at: (ms: number) => void } {
  let nowMs = start
  let text = ''
  const filter = parseLevelFilter('info')
  if ('problem' in filter) throw new Error(filter.problem)
  const logger = createLogger({ format: 'text', filter, write: (line) => (text += line) }).module('certificates')
  const watch = new CertificateWatch(logger, () => nowMs)
  watches.push(watch)
  return {
    watch,
    /** New ones, without their times. */
    lines() {
      const lines = text.split('\n').slice(0, -1)
      text = ''
      return lines.map((line) => line.slice(line.indexOf('\t') + 1).replaceAll(/not_(\w+)=\S+/g, 'not_$1'))
    },
    at(ms) {
      nowMs = ms
      watch.check()
    },
  }
}

function configOf(count: number, certificate: string): [RenderedConfig, RenderedSecrets] {
  const name = { gatewayNamespace: 'infra', gatewayName: 'edge', listenerName: 'a' }
  const tls = { certificate: { secret: 'a/one/tls.crt' }, privateKey: { secret: 'a/one/tls.key' } }
  const protocol = 'HTTPS' as const
  const listeners = Array.from({ length: count }, (_, i) => {
    return { key: `infra/edge.${i}`, bindKey: 'b', name, protocol, tls }
  })
  return [
    { ...emptyConfig(), listeners },
    { version: 1, secrets: [{ key: 'a/one/tls.crt', value: certificate }] },
  ]
}

it('reports once that a certificate is about to expire, once that it has expired, and again for the next one', () => {
  const { watch, lines, at } = watchAt(days(0))
  watch.take(...configOf(1, short.certificate))
  at(days(7))
  expect(lines()).toEqual([])
  const reported = 'use=server owner=infra/edge.0 secret=a/one/tls.crt not_after'
  for (const day of [8, 9]) at(days(day))
  expect(lines()).toEqual([`warn\tcertificates a certificate expires soon ${reported}`])
  for (const day of [10, 11]) at(days(day))
  expect(lines()).toEqual([`error\tcertificates a certificate has expired ${reported}`])
  watch.take(...configOf(1, long.certificate))
  at(days(11))
  expect(lines()).toEqual([])
  watch.take(...configOf(1, short.certificate))
  at(days(11))
  expect(lines()).toEqual([`error\tcertificates a certificate has expired ${reported}`])
  watch.take(...configOf(0, ''))
  at(days(12))
  expect(lines()).toEqual([])
  expect(watch.shown()).toEqual([])
})

it('reports one that is not valid yet', () => {
  const { watch, lines } = watchAt(madeMs - DAY_MS)
  watch.take(...configOf(1, long.certificate))
  watch.check()
  expect(lines()).toEqual([
    'warn\tcertificates a certificate is not valid yet use=server owner=infra/edge.0 secret=a/one/tls.crt not_before',
  ])
  expect(watch.shown()).toMatchObject([{ state: 'notYetValid' }])
})

it('limits a flood of lines, and logs how many are missing', () => {
  const { watch, lines, at } = watchAt(days(9))
  watch.take(...configOf(25, short.certificate))
  watch.check()
  expect(lines().slice(19)).toEqual([
    expect.stringContaining('owner=infra/edge.19 '),
    'warn\tcertificates further certificates expire soon, have expired or are not valid yet more=5',
  ])
  at(days(9.1))
  expect(lines()).toEqual([])
})

it('measures and shows the soonest to end first, a bounded number of them', () => {
  const { watch } = watchAt(days(1))
  const [config, { secrets }] = configOf(2, short.certificate)
  const [first, second] = config.listeners
  if (first === undefined || second === undefined) throw new Error('two listeners')
  const other = { ...second.tls, certificate: { secret: 'a/two/tls.crt' } }
  const listeners = [{ ...first, tls: other }, second]
  const all = [...secrets, { key: 'a/two/tls.crt', value: long.certificate }]
  watch.take({ ...config, listeners }, { version: 1, secrets: all })
  expect(watch.shown().map(({ owner, secret, state }) => [owner, secret, state])).toEqual([
    ['infra/edge.1', 'a/one/tls.crt', 'valid'],
    ['infra/edge.0', 'a/two/tls.crt', 'valid'],
  ])
  const [metric] = watch.metrics()
  const [sample] = metric?.values() ?? []
  expect(sample?.labels).toEqual({ use: 'server', owner: 'infra/edge.1', secret: 'a/one/tls.crt' })
  expect(Math.round(((sample?.value ?? 0) * 1000 - madeMs) / DAY_MS)).toBe(10)
  watch.take(...configOf(1001, short.certificate))
  expect([watch.shown().length, metric?.values().length]).toEqual([1000, 1000])
})

it('looks at a configuration by itself', async () => {
  const { watch, lines } = watchAt(days(11))
  watch.take(...configOf(1, short.certificate))
  const reported: string[] = []
  await expect.poll(() => reported.push(...lines()), { timeout: 20_000 }).toBe(1)
  expect(reported).toEqual([expect.stringContaining('a certificate has expired')])
})
