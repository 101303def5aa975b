import assert from 'node:assert/strict'
import { open, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { openSheetInThread, type ParseLimits } from '../../src/import/parsing/parse-thread.ts'
import { createDirectory } from '../support/processes.ts'

const directory = createDirectory()
const limits: ParseLimits = { maxMemoryMib: 128, timeoutMs: 60_000, maxUnpackedBytes: 2 ** 30 }

/** Reads a file in a thread with these limits. Returns the numbers of valid and invalid lines. */
async function countLines(
  content: string | Buffer,
  limitsChange: Partial<ParseLimits> = {},
  signal = new AbortController().signal,
) {
  const path = join(directory, 'file.csv')
  await writeFile(path, content)
  const handle = await open(path)
  const options = { dialect: {}, currency: 'AUD', onRead() {}, onRemark() {}, signal }
  const file = { handle, name: 'The file', format: 'csv', typeName: 'stores' } as const
  const sheet = await openSheetInThread(file, options, { ...limits, ...limitsChange })
  try {
    let [valid, invalid] = [0, 0]
    for await (const batch of sheet.batches ?? [])
      for (const { row } of batch) {
        if (row) valid++
        else invalid++
      }
    return { valid, invalid }
  } finally {
    await sheet.close?.()
  }
}

const header = 'storeId,storeNumber,name\n'
const buildLines = (count: number, name: string) =>
  Array.from({ length: count }, (_, i) => `${i},${i},${name}\n`).join('')

test('a thread reads a file in batches', async () => {
  assert.deepEqual(await countLines(`${header}${buildLines(5_000, 'Collins Street')}x\n`), { valid: 5_000, invalid: 1 })
})

test('a thread that needs too much memory is killed', async () => {
  const wide = `${header}${buildLines(400, 'x'.repeat(200_000))}`
  await assert.rejects(countLines(wide, { maxMemoryMib: 4 }), /needs more than 4 MiB of memory|ended early/)
})

test('a thread that takes too long is killed', async () => {
  await assert.rejects(countLines(`${header}${buildLines(10, 'a')}`, { timeoutMs: 1 }), /took longer than 0.001 s/)
})

test('a file that grows beyond the limit when unpacked is rejected', async () => {
  const bomb = gzipSync(`${header}${buildLines(20_000, 'a'.repeat(100))}`)
  await assert.rejects(countLines(bomb, { maxUnpackedBytes: 1024 ** 2 }), /GiB after decompression/)
})

test('an abort ends the thread', async () => {
  const controller = new AbortController()
  controller.abort()
  await assert.rejects(countLines(header, {}, controller.signal), /was stopped/)
})
