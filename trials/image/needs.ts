import { spawnSync } from 'node:child_process'

/** Why no image can be built here; undefined where one can. */
export const noBuildah =
  process.platform !== 'linux' || process.geteuid?.() !== 0
    ? 'an image is built as root of a Linux'
    : spawnSync('buildah', ['--version']).status === 0
      ? undefined
      : 'there is no buildah: apt-get install buildah'
