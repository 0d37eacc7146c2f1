import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['{api,operator,deployer,proxy,cli,codegen,test,bench}/**/*.test.ts'],
    exclude: ['**/node_modules/**', 'test/e2e/**'],
    pool: 'forks',
    testTimeout: 20_000,
    hookTimeout: 60_000,
  },
})
