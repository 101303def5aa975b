import { createInterface } from 'node:readline/promises'

/** Asks the operator to type a word. Returns true if it is typed. */
export async function confirmByTyping(word: string, whatFor: string): Promise<boolean> {
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  try {
    process.stderr.write(`${whatFor}, type ${word}: `)
    for await (const line of lines) return line.trim() === word
    return false
  } finally {
    lines.close()
  }
}
