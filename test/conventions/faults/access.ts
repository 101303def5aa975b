import type { Section } from './fault.ts'

export const access: Section = {
  title: 'Sign-in and access',
  cases: [
    [
      126,
      'The credentials are missing',
      ['api/access/sign-in.test.ts', 'a request with missing or malformed credentials gets a sign-in challenge'],
    ],
    [
      127,
      'Credentials are malformed: without a colon, of another scheme, or 64 KB long',
      ['api/access/sign-in.test.ts', 'a request with missing or malformed credentials gets a sign-in challenge'],
      ['api/access/sign-in.test.ts', 'the authentication scheme is case-insensitive'],
      ['api/requests/methods.test.ts', 'a request can have at most 100 headers of 16 KiB'],
    ],
    [
      128,
      'Base64 contains invalid characters',
      ['api/access/sign-in.test.ts', 'a request with missing or malformed credentials gets a sign-in challenge'],
    ],
    [
      129,
      'A password contains colons, accents or control characters',
      ['api/access/sign-in.test.ts', 'the first colon ends the username; the password is compared as UTF-8'],
    ],
    [
      130,
      'The `Authorization` header is sent twice',
      ['api/access/sign-in.test.ts', 'a repeated single-value header is rejected, even with the same value'],
    ],
    [
      131,
      'The `X-Service-Name` header is sent twice',
      ['api/access/sign-in.test.ts', 'a repeated single-value header is rejected, even with the same value'],
    ],
    [
      132,
      'The service name is missing, empty, in another case or in look-alike characters',
      ['api/access/tenants.test.ts', 'an unassigned service and an unknown service get the same response'],
      ['api/access/sign-in.test.ts', 'a request with missing or malformed credentials gets a sign-in challenge'],
    ],
    [
      133,
      "A request names another account's service",
      ['api/access/tenants.test.ts', 'an unassigned service and an unknown service get the same response'],
    ],
    [
      134,
      "A path, query or body contains another service's identifiers, in every operation",
      ['api/access/matrix.test.ts', "another service's identifier gets the same response as an unknown identifier"],
      ['api/access/tenants.test.ts', "reading another service's record returns the same 404 as an unknown record"],
      ['api/access/tenants.test.ts', "another service's codes and email addresses match nothing"],
    ],
    [
      135,
      'A password is revoked or rotated',
      ['runtime/start-workers.test.ts', 'a revocation applies in every process within 5 seconds'],
      ['api/access/accounts.test.ts', 'two passwords stay valid after a rotation; the next ends the oldest'],
    ],
    [
      136,
      'A thousand wrong passwords are tried on one account',
      [
        'api/access/guessing.test.ts',
        'wrong passwords are counted across servers and blocked after 20 with Retry-After',
      ],
      ['api/access/guessing.test.ts', 'an address that tries many usernames is blocked after 200 failures'],
    ],
    [
      137,
      'Response times differ between an unknown username and a wrong password',
      ['api/access/guessing.test.ts', 'an unknown username takes as long to reject as a wrong password'],
    ],
    [
      138,
      'A secret has another length',
      ['api/access/sign-in.test.ts', 'an unknown username and a wrong password get the same response'],
    ],
    [
      139,
      'Hundreds of wrong sign-ins arrive per second',
      [
        'api/access/guessing.test.ts',
        'wrong passwords are counted across servers and blocked after 20 with Retry-After',
      ],
      ['api/requests/crowding.test.ts', 'continuous wrong sign-ins from many addresses do not delay valid ones'],
    ],
    [
      140,
      'Many services share few connections while errors occur',
      ['api/access/tenants.test.ts', 'concurrent responses of several services never mix, even with errors'],
    ],
    [
      141,
      'A query lacks the service',
      ['api/access/matrix.test.ts', 'an operation without a service name returns nothing and changes nothing'],
    ],
    [
      142,
      'A database role bypasses row security',
      ['api/access/database-roles.test.ts', "a database role that … cannot read or change another service's record"],
    ],
    [
      143,
      "A child record points to another service's parent",
      ['api/access/tenants.test.ts', "a child record cannot reference another service's parent"],
    ],
    [
      144,
      'Two services use the same code',
      ['api/access/tenants.test.ts', 'two services can use the same identifiers, codes and email addresses'],
    ],
    [
      145,
      'The database reports an error',
      ['runtime/outages.test.ts', 'an unexpected error returns only the request ID'],
      ['api/customers/erasure.test.ts', "an unexpected database error is logged without the row's content"],
    ],
    [
      146,
      'One service sends far more requests than its limit',
      ['api/requests/rates.test.ts', 'each account has its own limit in each service'],
      ['api/requests/crowding.test.ts', 'a client over its limit is throttled while another service is served'],
    ],
    [
      147,
      'A body sets read-only fields',
      ['api/customers/fields.test.ts', 'read-only and unknown fields are rejected by name'],
    ],
    [
      148,
      'Every role calls every operation',
      ['api/access/matrix.test.ts', 'each operation is rejected for exactly the documented roles'],
    ],
    [
      149,
      'An installation has an admin port, default passwords or open documents',
      ['telemetry/metrics.test.ts', 'the metrics port serves only metrics, and no other port does'],
      ['runtime/start.test.ts', 'the first start prints address, user, password, service and documentation link'],
      ['runtime/start.test.ts', 'a revoked demo account stays revoked'],
    ],
  ],
}
