// The configuration of Prometheus in docs/alerts.md is valid for Prometheus. Requires promtool.
// @module-tag full
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { yamlOf } from '#test/pages/page-commands.ts'

it('docs/alerts.md: promtool accepts the scrape configuration', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gw-scrape-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const config = yamlOf('docs/alerts.md', '# prometheus.yml')
  const file = join(folder, 'prometheus.yml')
  // The Prometheus of Debian is built without the discovery of Kubernetes.
  const discovery = /kubernetes_sd_configs:\n\s+- role: pod\n/
  expect(config).toMatch(discovery)
  writeFileSync(file, config.replace(discovery, 'static_configs: [{ targets: [localhost] }]\n'))
  expect(execFileSync('promtool', ['check', 'config', file], { encoding: 'utf8' })).toContain('SUCCESS')
})
