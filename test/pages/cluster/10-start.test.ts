// The first commands of README.md, docs/install.md and docs/start/from-ingress.md: a cluster on this machine with Gw
// and a sample. The next files use it.
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { commandsFor } from '../tested-pages.ts'
import { openTerminal, useCluster } from './terminal.ts'

const TEST = 'test/pages/cluster/10-start.test.ts'
const ALERTS = 'docs/alerts.md'
const OPERATOR = 'github.com/prometheus-operator/prometheus-operator@v0.85.0'
const RULE_CRD = 'example/prometheus-operator-crd/monitoring.coreos.com_prometheusrules.yaml'

const terminal = openTerminal()
afterAll(() => terminal.end())

it('a cluster, the images, Gw and its first sample', async () => {
  const pages = ['README.md', 'docs/install.md', 'docs/start/from-ingress.md']
  const commands = pages.map((page) => commandsFor(TEST, page).map(({ command }) => command))
  // The README has all of them; a page must not have one that it lacks.
  const [all = []] = commands
  expect(commands.flat().filter((command) => !all.includes(command))).toEqual([])
  expect(all[0]).toContain('kind-up')
  const results = await terminal.run(all)
  expect(results.at(-1)?.printed).toContain('"path":"/v1/users"')
  await useCluster()
})

it('docs/alerts.md', async () => {
  await useCluster()
  const commands = commandsFor(TEST, ALERTS).map(({ command }) => command)
  expect(commands).toHaveLength(1)
  const module = execFileSync('go', ['mod', 'download', '-json', OPERATOR], { cwd: '/', encoding: 'utf8' })
  const { Dir: folder } = JSON.parse(module) as { readonly Dir: string } // documented by `go help mod download`
  const crd = `kubectl apply --server-side -f ${join(folder, RULE_CRD)}`
  const ready = 'kubectl wait --for=condition=Established crd/prometheusrules.monitoring.coreos.com'
  const removed = 'kubectl delete -f config/prometheus/prometheus-rule.yaml'
  const results = await terminal.run([crd, ready, ...commands, removed])
  expect(results[2]?.printed).toContain('created')
})
