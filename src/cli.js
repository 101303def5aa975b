#!/usr/bin/env -S node --max-semi-space-size=8
import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'
import { setFlagsFromString } from 'node:v8'

// By default, this signal would open Node's debugger, through which other processes of the machine can run code.
process.on('SIGUSR1', () => {})

// The young generation has 8 MB, here and in deploy/tillbridge. With Node's own limit, bulk exports take 90 MB more memory and no less CPU.

// The heap can double until V8 collects its garbage. By default it grows up to fourfold: 1,000 clients that don't read their responses then
// left 210 MB of garbage, three times as much as the live objects. V8 reads this flag after each collection.
setFlagsFromString('--heap-growing-percent=100')

// The compile cache saves half of the time of a short command. This file runs before the cache is enabled, so it is JavaScript: otherwise
// Node would load its TypeScript compiler at every start.
enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/tillbridge', import.meta.url)))
await import('./module-hooks.js')
const { run } = await import('./commands/program.ts')
await run()
