<?php
require 'tillbridge.php';

$account = tillbridge('GET', '/customers/60001/rewards')['data'];
echo "{$account['tierName']}: {$account['availablePoints']} points, {$account['pointsToNextReward']} to the next reward\n";
