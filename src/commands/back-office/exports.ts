import { type BackOfficeSettings, sftpAddressIn } from '../../domain/tenancy/back-office-settings.ts'
import { readSecret } from '../terminal/secret.ts'

type SignIn = { [name in 'exportsHostKey' | 'exportsKey' | 'exportsPassword']?: string | undefined }

/**
 * What comes with a change of the exports: whoever names a server or a key says how to sign in, and a folder needs none of it. The
 * password comes from a file, or from standard input unless another one is read from there.
 */
export async function signInOf(
  change: { readonly [name in keyof BackOfficeSettings]?: unknown },
  file: string | undefined,
  isInputTaken: boolean,
): Promise<SignIn> {
  const { exports, exportsKey } = change as Record<string, string | undefined>
  const isServer = exports !== undefined && sftpAddressIn(exports) !== undefined
  if ('exports' in change && !isServer)
    return { exportsHostKey: undefined, exportsKey: undefined, exportsPassword: undefined }
  if (file !== undefined) {
    const exportsPassword = await readSecret('', file)
    return isServer ? { exportsKey: undefined, exportsPassword } : { exportsPassword }
  }
  if (exportsKey !== undefined || !isServer) return 'exportsKey' in change ? { exportsPassword: undefined } : {}
  if (isInputTaken && !process.stdin.isTTY)
    throw new Error('Only one password comes from standard input: use --password-file or --exports-password-file.')
  return { exportsKey: undefined, exportsPassword: await readSecret("The SFTP server's password: ") }
}
