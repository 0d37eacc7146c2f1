// backend.health: eviction of a provider and failover to the next group.
import { expect } from 'vitest'
import { replacing, type ConformanceCase } from './suite/case.ts'
import { chat } from './suite/chat.ts'

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'HealthEviction',
    description: 'the first bad answer evicts a provider, the next group serves, and the dump shows both',
    sample: 'backend-health.yaml',
    async run(gateway) {
      expect((await chat(gateway, 'hi')).status).toBe(503)
      for (let i = 0; i < 5; i++) expect((await chat(gateway, 'hi')).status).toBe(200)
      expect(await gateway.dump()).toMatchObject({
        backends: [
          {
            backend: {
              ai: {
                target: {
                  providers: [
                    {
                      active: { failing: { info: { health: 0.7, timesEjected: 1, evictedUntil: expect.any(String) } } },
                    },
                    { active: { spare: { info: { timesEjected: 0, evictedUntil: null } } } },
                  ],
                },
              },
            },
          },
        ],
      })
    },
  },
  {
    shortName: 'HealthThreshold',
    description: 'an endpoint stays until so many answers in a row were bad',
    sample: 'backend-health.yaml',
    change: replacing('duration: 10m', 'duration: 10m\n        consecutiveFailures: 3'),
    async run(gateway) {
      const answers: number[] = []
      for (let i = 0; i < 6; i++) answers.push((await chat(gateway, 'hi')).status)
      expect(answers).toEqual([503, 503, 503, 200, 200, 200])
    },
  },
]
