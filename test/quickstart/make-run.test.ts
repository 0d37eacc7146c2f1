// The first command of the README: `make run` starts the quickstart, and Ctrl-C ends everything.
// @module-tag full
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, it, onTestFinished } from 'vitest'
import { ROOT } from '#test/cli/gw.ts'
import { commandsFor } from '#test/pages/tested-pages.ts'
import { until } from '#test/wait.ts'

const START_MS = 150_000
const READY_MS = 90_000

it('README.md: make run', { timeout: START_MS }, async () => {
  const [{ command } = { command: '' }, ...others] = commandsFor('test/quickstart/make-run.test.ts', 'README.md')
  expect(others).toEqual([])
  const run = spawn('bash', ['-c', `exec ${command}`], { cwd: ROOT, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  const exited = once(run, 'exit')
  onTestFinished(async () => {
    if (run.exitCode === null && run.signalCode === null) process.kill(-(run.pid ?? NaN), 'SIGKILL')
    await exited
  })
  let output = ''
  for (const stream of [run.stdout, run.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  await Promise.race([exited, until('the quickstart runs', () => output.includes('Gw is running'), READY_MS)])
  expect(output).toContain('Gw is running')
  expect((await fetch('http://127.0.0.1:8080/echo')).status).toBe(200)
  const ui = await (await fetch('http://127.0.0.1:15000/ui/')).text()
  expect(ui).toContain('assets/app.js')
  // To the whole group, as a terminal does.
  process.kill(-(run.pid ?? NaN), 'SIGINT')
  await exited
  await expect(fetch('http://127.0.0.1:8080/echo')).rejects.toThrow('fetch failed')
})
