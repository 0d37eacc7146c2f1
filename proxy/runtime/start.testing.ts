// Starts a proxy for tests: loopback, free ports, log lines into a file that can be read back.
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runProxy } from './proxy.ts'
import type { RestartHistory } from './restart-policy.ts'
import { createRestartHistory } from './restart-policy.ts'
import type { RunningProxy } from './running-proxy.ts'
import type { ProxyOptions } from './settings.ts'
import { resolveSettings } from './settings.ts'

export interface TestProxy {
  readonly proxy: RunningProxy
  /** Everything logged so far. */
  readonly log: () => string
  /** Sum of the samples whose line begins with `name`. */
  readonly metric: (name: string) => Promise<number>
  readonly text: (server: 'admin' | 'stats' | 'readiness', path: string, init?: RequestInit) => Promise<string>
}

const running: { proxy: RunningProxy; directory: string; fd: number }[] = []

export async function startTestProxy(
  options: ProxyOptions = {},
  restartHistory: () => RestartHistory = createRestartHistory,
): Promise<TestProxy> {
  const directory = mkdtempSync(join(tmpdir(), 'gw-proxy-test-'))
  const file = join(directory, 'log')
  const fd = openSync(file, 'a')
  const loopback = { host: '127.0.0.1', port: 0 }
  const { settings } = resolveSettings(
    {
      workers: 2,
      listenAddress: '127.0.0.1',
      admin: loopback,
      stats: loopback,
      readiness: loopback,
      accessLog: false,
      logFd: fd,
      ...options,
    },
    {},
  )
  const proxy = await runProxy(settings, {
    restartHistory,
    workerEntry: new URL('./crashing-worker.testing.ts', import.meta.url),
  }).catch((error: unknown) => {
    closeSync(fd)
    rmSync(directory, { recursive: true })
    throw error
  })
  running.push({ proxy, directory, fd })
  const text: TestProxy['text'] = async (server, path, init) =>
    await (await fetch(`http://127.0.0.1:${proxy.ports[server]}${path}`, init)).text()
  return {
    proxy,
    log: () => readFileSync(file, 'utf8'),
    text,
    async metric(name) {
      const lines = (await text('stats', '/metrics')).split('\n').filter((line) => line.startsWith(name))
      return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0)
    },
  }
}

export async function stopTestProxies(): Promise<void> {
  for (const { proxy, directory, fd } of running.splice(0)) {
    await proxy.stop({ isForced: true })
    closeSync(fd)
    rmSync(directory, { recursive: true })
  }
}
