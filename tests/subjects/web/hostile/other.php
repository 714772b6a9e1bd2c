<?php echo "other";
