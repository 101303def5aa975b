#!/usr/bin/env node
import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'

// What an earlier start has compiled is not compiled again: that is half of what a short command takes. This file is the one that comes before
// the cache, which is why it is JavaScript: Node would load its compiler of types for it, at every start.
enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/tillbridge', import.meta.url)))
const { run } = await import('./commands/program.ts')
await run()
