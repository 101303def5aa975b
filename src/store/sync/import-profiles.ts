import { type Db, sql } from '../../database/db.ts'
import { rfc3339 } from '../../database/rfc3339.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'

/** How a file was imported. */
interface ImportProfile {
  /** SHA-256 of the column names of the file. */
  header: string
  importType: string
  /** A profile of `tillbridge import`, as JSON. */
  profile: string
  username: string
}

const maxListedProfiles = 500

/** Returns the profiles of a service, newest first, as a JSON array. */
export const renderImportProfiles = (db: Db, service: Service) =>
  db.row<{ record: string }>(sql`
    select coalesce(json_agg(r), '[]')::text as record
      from (select header_hash as header, import_type as type, profile::json as profile, username, ${rfc3339(sql`saved_at`)} as "savedAt"
              from import_profile
             where service_id = ${service.id}
             order by saved_at desc
             limit ${maxListedProfiles}) r`)

/** Saves a profile. It replaces that of the same columns. */
export const saveImportProfile = (tx: Db, service: Service, { header, importType, profile, username }: ImportProfile) =>
  tx.run(sql`
    insert into import_profile (service_id, header_hash, import_type, profile, username)
    values (${service.id}, ${header}, ${importType}, ${profile}, ${username})
    on conflict (service_id, header_hash) do update
       set (import_type, profile, username, saved_at) = (excluded.import_type, excluded.profile, excluded.username, now())`)
