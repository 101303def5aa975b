import { readFile } from 'node:fs/promises'
import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { notRead } from '../../import/sources/file.ts'

/** A secret - a `what` - from a file, or from standard input: one line of it, which a terminal does not show. */
export async function readSecret(prompt: string, file?: string, what = 'password'): Promise<string> {
  const text = file === undefined ? await readLine(prompt) : await contentOf(file)
  const secret = text.replace(/\r?\n[\s\S]*$/, '')
  if (secret === '') throw new Error(file === undefined ? `No ${what} was given.` : `${file} is empty.`)
  return secret
}

const contentOf = (file: string) =>
  readFile(file, 'utf8').catch(error => {
    throw new Error(notRead(file, error))
  })

async function readLine(prompt: string): Promise<string> {
  const { stdin, stderr } = process
  if (stdin.isTTY) stderr.write(prompt)
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input: stdin, output: nowhere, terminal: stdin.isTTY })
  try {
    for await (const line of lines) return line
    return ''
  } finally {
    lines.close()
    if (stdin.isTTY) stderr.write('\n')
  }
}
