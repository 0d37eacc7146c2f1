import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['{api,operator,deployer,proxy,cli,codegen,test,bench}/**/*.test.ts'],
    exclude: ['**/node_modules/**', 'test/e2e/**'],
    pool: 'forks',
    // Real sockets and processes on shared machines: CI tries a failed test once more and says so in its output.
    retry: process.env['CI'] === undefined ? 0 : 1,
    testTimeout: 20_000,
    hookTimeout: 60_000,
  },
})
