// Budgets: a global limit on the cost of requests, by key, team and model.
import { expect } from 'vitest'
import { type ConformanceCase, replacing } from './suite/case.ts'
import type { SampleGateway } from './suite/gateway.ts'

const SAMPLE = 'budget.yaml'

/** The service allows two millionths of a dollar, and keeps its counts over all cases. */
function asks(gateway: SampleGateway, key: string, model = 'demo-small'): Promise<{ readonly status: number }> {
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'hello there' }] })
  const headers = { 'content-type': 'application/json', authorization: `Bearer key-of-${key}` }
  return gateway.ask('/v1/chat/completions', { method: 'POST', headers, body })
}

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'BudgetOfKey',
    description: 'a key whose requests have cost its budget is rejected, and another key is not',
    sample: SAMPLE,
    async run(gateway) {
      expect((await asks(gateway, 'ann')).status).toBe(200)
      await expect.poll(async () => (await asks(gateway, 'ann')).status).toBe(429)
      expect((await asks(gateway, 'bob')).status).toBe(200)
      const metrics = await gateway.metrics()
      expect(metrics).toMatch(/gw_gen_ai_client_cost_usd_total\{.*gen_ai_request_model="demo-small".*\} 0\.0000/)
    },
  },
  {
    shortName: 'BudgetOfTeam',
    description: 'all keys of a team share its budget',
    sample: SAMPLE,
    change: replacing(
      '- name: key\n                expression: apiKey.name',
      '- name: team\n                expression: apiKey.team',
    ),
    async run(gateway) {
      expect((await asks(gateway, 'ann')).status).toBe(200)
      await expect.poll(async () => (await asks(gateway, 'bob')).status).toBe(429)
      expect((await asks(gateway, 'eve')).status).toBe(200)
    },
  },
  {
    shortName: 'BudgetOfModel',
    description: 'the cost of a model counts against its budget, and a free model is not rejected',
    sample: SAMPLE,
    change: replacing(
      '- name: key\n                expression: apiKey.name',
      '- name: model\n                expression: json(request.body).model',
    ),
    async run(gateway) {
      for (let i = 0; i < 3; i++) expect((await asks(gateway, 'eve', 'demo-free')).status).toBe(200)
      expect((await asks(gateway, 'eve')).status).toBe(200)
      await expect.poll(async () => (await asks(gateway, 'bob')).status).toBe(429)
      expect((await asks(gateway, 'bob', 'demo-free')).status).toBe(200)
    },
  },
  {
    shortName: 'BudgetWithoutPrice',
    description: 'a model that the catalog does not have costs nothing',
    sample: SAMPLE,
    async run(gateway) {
      for (let i = 0; i < 4; i++) expect((await asks(gateway, 'eve', 'unknown')).status).toBe(200)
      expect(await gateway.metrics()).toMatch(/gw_cost_catalog_lookups_total\{status="Missing".*\} [1-9]/)
    },
  },
]
