import { type BackOfficeSettings, parseSftpAddress } from '../../domain/tenancy/back-office-settings.ts'
import { readSecret } from '../terminal/secret.ts'

type Credentials = { [name in 'sftpHostKey' | 'sftpKeyFile' | 'sftpPassword']?: string | undefined }

/**
 * Returns the SFTP credentials that change with the export folder: a new server or key replaces the old credentials, and a local folder
 * removes them. The password comes from `passwordFile`, otherwise from standard input unless another password is read from it.
 */
export async function readSftpCredentials(
  change: { readonly [name in keyof BackOfficeSettings]?: unknown },
  passwordFile: string | undefined,
  isInputTaken: boolean,
): Promise<Credentials> {
  const { exportFolder, sftpKeyFile } = change as Record<string, string | undefined>
  const isServer = exportFolder !== undefined && parseSftpAddress(exportFolder) !== undefined
  if ('exportFolder' in change && !isServer)
    return { sftpHostKey: undefined, sftpKeyFile: undefined, sftpPassword: undefined }
  if (passwordFile !== undefined) {
    const sftpPassword = await readSecret('', passwordFile)
    return isServer ? { sftpKeyFile: undefined, sftpPassword } : { sftpPassword }
  }
  if (sftpKeyFile !== undefined || !isServer) return 'sftpKeyFile' in change ? { sftpPassword: undefined } : {}
  if (isInputTaken && !process.stdin.isTTY)
    throw new Error(
      'Only one password can be read from standard input. Use --password-file or --sftp-password-file for the other one.',
    )
  return { sftpKeyFile: undefined, sftpPassword: await readSecret("The SFTP server's password: ") }
}
