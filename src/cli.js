#!/usr/bin/env -S node --max-semi-space-size=8
import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'

// What is young in memory has 8 MB, here and in deploy/tillbridge: with Node's own limit a service that tells whole lists takes 90 MB more, and no less CPU.

// What an earlier start has compiled is not compiled again: that is half of what a short command takes. This file is the one that comes before
// the cache, which is why it is JavaScript: Node would load its compiler of types for it, at every start.
enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/tillbridge', import.meta.url)))
await import('./module-hooks.js')
const { run } = await import('./commands/program.ts')
await run()
