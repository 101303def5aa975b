import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runProgram } from './run-program.ts'

const program = fileURLToPath(new URL('../../../scripts/release/release.ts', import.meta.url))

/** Packs the checkout into `dist` like `npm run release`, but with tar only, because the archive isn't published. */
export function packRelease(home: string) {
  const dist = join(home, 'dist')
  const root = runProgram(process.execPath, program, '--unpacked', '--out', dist).trim()
  const name = root.slice(dist.length + 1)
  runProgram('tar', '--owner=0', '--group=0', '--mode=u+w,go=rX', '-cf', join(dist, `${name}.tar.gz`), '-C', dist, name)
  rmSync(root, { recursive: true })
  return { dist, name }
}
