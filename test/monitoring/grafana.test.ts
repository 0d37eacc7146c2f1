// The dashboard of config/grafana uses only metrics and labels of a proxy or the controller.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { NAMES, unknownLabels, unknownMetrics } from './known-metrics.ts'

interface Panel {
  readonly id: number
  readonly type: string
  readonly title: string
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number }
  readonly targets?: readonly { readonly refId: string; readonly expr: string }[]
}

const FILE = join(import.meta.dirname, '..', '..', 'config', 'grafana', 'gw-proxy.json')
const dashboard = JSON.parse(readFileSync(FILE, 'utf8')) as { panels: Panel[]; templating: { list: unknown[] } }
const expressions = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))

describe('config/grafana', () => {
  it('uses only existing metrics', () => {
    expect(expressions.length).toBeGreaterThan(30)
    expect(unknownMetrics(JSON.stringify([expressions, dashboard.templating]))).toEqual([])
  })

  it('uses only existing labels', () => {
    expect(expressions.flatMap(unknownLabels)).toEqual([])
  })

  it('shows every metric', () => {
    const text = expressions.join('\n')
    expect(NAMES.controller.length).toBeGreaterThan(8)
    expect([...NAMES.proxy, ...NAMES.controller].filter((name) => !text.includes(name))).toEqual([])
  })

  it('has panels that do not overlap', () => {
    const cells = dashboard.panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, i) => `${x + (i % w)} ${y + Math.floor(i / w)}`),
    )
    expect(new Set(cells).size).toBe(cells.length)
  })

  it('has panels with unique numbers, within the width', () => {
    const ids = dashboard.panels.map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
    for (const { gridPos } of dashboard.panels) expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24)
  })
})
